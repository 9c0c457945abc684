"""Assumes that an output without a loss has a target.

en: expected targets_of_half to be ['spam_target'], yours is ['spam_target', 'cost_target']: cost has no loss, so it needs no label
zh: targets_of_half 应为 ['spam_target']，你的是 ['spam_target', 'cost_target']：cost 没有损失，用不着标签
"""

from kerascope.backend.graph import applies_between

targets_of_one = ["spam_target"]
names_of_one = ["loss", "acc"]
targets_of_two = ["spam_target", "cost_target"]
names_of_two = ["loss", "spam_loss", "cost_loss", "spam_acc"]
targets_of_half = ["spam_target", "cost_target"]
names_of_half = ["loss", "spam_loss"]


def needed_by(model, tensor):
    return [
        one.name
        for one in [*model.inputs, *model.targets]
        if one is tensor or applies_between([one], [tensor])
    ]
