"""Names that begin with _ are counted.

en: expected missing_names(first, second) to be ['cosh', 'softsign', 'tanh'], yours is ['_cache', 'cosh', 'softsign', 'tanh']
zh: missing_names(first, second) 应为 ['cosh', 'softsign', 'tanh']，你的是 ['_cache', 'cosh', 'softsign', 'tanh']
"""


def missing_names(first, second):
    return sorted(name for name in vars(first) if not hasattr(second, name))


def different_results(first, second, calls):
    return ["ones", "shift"]
