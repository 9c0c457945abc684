"""Names that begin with _ are counted.

en: expected missing_names(first, second) to be ['softsign', 'tanh'], yours is ['_cache', 'softsign', 'tanh']
zh: missing_names(first, second) 应为 ['softsign', 'tanh']，你的是 ['_cache', 'softsign', 'tanh']
"""


def missing_names(first, second):
    return sorted(name for name in vars(first) if not hasattr(second, name))


def different_results(first, second, calls):
    return ["ones", "shift"]
