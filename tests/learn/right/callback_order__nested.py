def within(name, number, inner):
    return [f"{name}_begin {number}", *inner, f"{name}_end {number}"]


batches = []
for number in range(-(-5 // 2)):
    batches += within("batch", number, [])
calls = ("train_begin", *within("epoch", 0, batches), "train_end")
sizes = tuple(min(2, 5 - start) for start in range(0, 5, 2))
names = ("loss", "val_loss")
