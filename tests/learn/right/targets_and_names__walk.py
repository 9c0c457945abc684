targets_of_one = ["spam_target"]
names_of_one = ["loss", "acc"]
targets_of_two = [name + "_target" for name in ["spam", "cost"]]
names_of_two = ["loss"] + [name + "_loss" for name in ["spam", "cost"]] + ["spam_acc"]
targets_of_half = targets_of_two[:1]
names_of_half = names_of_two[:2]


def needed_by(model, tensor):
    seen, waiting = set(), [tensor]
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            if one.owner is not None:
                waiting += one.owner.inputs
    names = []
    for x in model.inputs:
        if x in seen:
            names.append(x.name)
    for y in model.targets:
        if y in seen:
            names.append(y.name)
    return names
