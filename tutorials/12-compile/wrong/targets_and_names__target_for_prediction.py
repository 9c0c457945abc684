"""Assumes that every forward pass needs the target, as S4:412 says.

en: expected needed_by(one, one.outputs[0]) to be ['mail'], yours is ['mail', 'spam_target']
zh: needed_by(one, one.outputs[0]) 应为 ['mail']，你的是 ['mail', 'spam_target']
"""

targets_of_one = ["spam_target"]
names_of_one = ["loss", "acc"]
targets_of_two = ["spam_target", "cost_target"]
names_of_two = ["loss", "spam_loss", "cost_loss", "spam_acc"]
targets_of_half = ["spam_target"]
names_of_half = ["loss", "spam_loss"]


def needed_by(model, tensor):
    return [one.name for one in [*model.inputs, *model.targets]]
