"""Assumes that the one trained output is the only output.

en: expected names_of_half to be ['loss', 'spam_loss'], yours is ['loss']: the model still has two outputs
zh: names_of_half 应为 ['loss', 'spam_loss']，你的是 ['loss']：模型仍有两个输出
"""

from kerascope.backend.graph import applies_between

targets_of_one = ["spam_target"]
names_of_one = ["loss", "acc"]
targets_of_two = ["spam_target", "cost_target"]
names_of_two = ["loss", "spam_loss", "cost_loss", "spam_acc"]
targets_of_half = ["spam_target"]
names_of_half = ["loss"]


def needed_by(model, tensor):
    return [
        one.name
        for one in [*model.inputs, *model.targets]
        if one is tensor or applies_between([one], [tensor])
    ]
