def find_cycle(node):
    parents, waiting = {}, [node]
    while waiting:
        one = waiting.pop()
        if one not in parents:
            parents[one] = list(one.parent_nodes)
            waiting.extend(parents[one])

    def behind(start):
        found, waiting = set(), list(parents[start])
        while waiting:
            one = waiting.pop()
            if one not in found:
                found.add(one)
                waiting += parents[one]
        return found

    return {one for one in parents if one in behind(one)}
