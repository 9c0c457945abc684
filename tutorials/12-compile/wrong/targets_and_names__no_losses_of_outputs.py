"""Assumes that only the total loss has a name.

en: expected names_of_two to be ['loss', 'spam_loss', 'cost_loss', 'spam_acc'], yours is ['loss', 'spam_acc']: the total, then a loss for each output, then the metrics
zh: names_of_two 应为 ['loss', 'spam_loss', 'cost_loss', 'spam_acc']，你的是 ['loss', 'spam_acc']：先是总损失，再是每个输出的损失，最后是评价
"""

from kerascope.backend.graph import applies_between

targets_of_one = ["spam_target"]
names_of_one = ["loss", "acc"]
targets_of_two = ["spam_target", "cost_target"]
names_of_two = ["loss", "spam_acc"]
targets_of_half = ["spam_target"]
names_of_half = ["loss", "spam_loss"]


def needed_by(model, tensor):
    return [
        one.name
        for one in [*model.inputs, *model.targets]
        if one is tensor or applies_between([one], [tensor])
    ]
