"""Distinguishes three kinds of tensor, without looking at the graph.

en: expected needed_by(pair, pair.outputs[0]) to be ['a'], yours is ['a', 'b']
zh: needed_by(pair, pair.outputs[0]) 应为 ['a']，你的是 ['a', 'b']
"""

targets_of_one = ["spam_target"]
names_of_one = ["loss", "acc"]
targets_of_two = ["spam_target", "cost_target"]
names_of_two = ["loss", "spam_loss", "cost_loss", "spam_acc"]
targets_of_half = ["spam_target"]
names_of_half = ["loss", "spam_loss"]


def needed_by(model, tensor):
    inputs = [x.name for x in model.inputs]
    targets = [x.name for x in model.targets]
    if tensor is model.total_loss:
        return inputs + targets
    if any(tensor is x for x in [*model.inputs, *model.targets]):
        return [tensor.name]
    return inputs
