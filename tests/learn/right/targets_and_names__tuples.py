targets_of_one = ("spam_target",)
names_of_one = ("loss", "acc")
targets_of_two = ("spam_target", "cost_target")
names_of_two = ("loss", "spam_loss", "cost_loss", "spam_acc")
targets_of_half = ("spam_target",)
names_of_half = ("loss", "spam_loss")


def depends(tensor, on, known):
    if tensor not in known:
        inputs = tensor.owner.inputs if tensor.owner else []
        known[tensor] = tensor is on or any([depends(x, on, known) for x in inputs])
    return known[tensor]


def needed_by(model, tensor):
    candidates = (*model.inputs, *model.targets)
    return tuple(one.name for one in candidates if depends(tensor, one, {}))
