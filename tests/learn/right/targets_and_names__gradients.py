from kerascope.backend.graph import leaves

targets_of_one, targets_of_half = ["spam_target"], ["spam_target"]
targets_of_two = targets_of_one + ["cost_target"]
names_of_one = "loss acc".split()
names_of_half = "loss spam_loss".split()
names_of_two = ["loss", *("%s_loss" % name for name in ("spam", "cost")), "spam_acc"]


def needed_by(model, tensor):
    under = leaves([tensor])
    return [one.name for one in list(model.inputs) + list(model.targets) if one in under]
