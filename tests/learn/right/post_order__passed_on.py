def finish(node, finished):
    if node not in finished:
        for parent in node.parent_nodes:
            finished = finish(parent, finished)
        finished = [*finished, node]
    return finished


def post_order(outputs):
    finished = []
    for output in outputs:
        finished = finish(output, finished)
    return finished
