"""A dict keeps the last pair.

en: expected the first pair of w to stay, yours kept another
zh: w 应保留第一个更新元组，你保留的是另一个
"""


def unique(pairs):
    return list(dict(pairs).items())
