"""Two variables of the same name are taken for one.

en: expected unique(pairs), of two variables named v, to be [(v, add), (v, add)], yours is [(v, add)]
zh: 两个变量都名叫 v 时的 unique(pairs) 应为 [(v, add), (v, add)]，你的是 [(v, add)]
"""


def unique(pairs):
    found = {}
    for variable, new_value in pairs:
        found.setdefault(variable.name, (variable, new_value))
    return list(found.values())
