"""Assumes that the targets have the layers' own names.

en: expected targets_of_one to be ['spam_target'], yours is ['spam']: a target is named after its output
zh: targets_of_one 应为 ['spam_target']，你的是 ['spam']：目标以其输出命名
"""

from kerascope.backend.graph import applies_between

targets_of_one = ["spam"]
names_of_one = ["loss", "acc"]
targets_of_two = ["spam_target", "cost_target"]
names_of_two = ["loss", "spam_loss", "cost_loss", "spam_acc"]
targets_of_half = ["spam_target"]
names_of_half = ["loss", "spam_loss"]


def needed_by(model, tensor):
    return [
        one.name
        for one in [*model.inputs, *model.targets]
        if one is tensor or applies_between([one], [tensor])
    ]
