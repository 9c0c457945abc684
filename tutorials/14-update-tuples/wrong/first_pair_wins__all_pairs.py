"""The duplicates are not dropped.

en: the variables of unique(pairs): expected number 3 to be 'u', yours is 'w'
zh: unique(pairs) 中的变量：第 3 个应为 'u'，你的是 'w'
"""


def unique(pairs):
    return list(pairs)
