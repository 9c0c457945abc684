def find_cycle(node):
    state, way = {}, []

    def visit(one):
        state[one] = "in progress"
        way.append(one)
        for parent in one.parent_nodes:
            if state.get(parent) == "in progress":
                return way[way.index(parent) :]
            if parent not in state:
                found = visit(parent)
                if found:
                    return found
        way.pop()
        state[one] = "finished"
        return []

    return set(visit(node))
