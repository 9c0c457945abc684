def visits_of_keras_2(output):
    nodes = [output]
    for node in nodes:
        nodes.extend(parent for parent in dict.fromkeys(node.parent_nodes) if parent not in nodes)
    return 1 + sum(len(node.parent_nodes) for node in nodes)


def visits_of_keras_1(output):
    marks, deepest = set(), {}

    def walk(node, depth):
        yield node
        marks.add((node, depth))
        name = id(node.outbound_layer)
        deepest[name] = max(deepest.get(name, depth), depth)
        below = deepest[name] + 1
        for parent in node.parent_nodes:
            if (parent, below) in marks:
                continue
            yield from walk(parent, below)

    return len(list(walk(output, 0)))
