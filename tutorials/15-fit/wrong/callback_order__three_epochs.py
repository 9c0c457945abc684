"""stop_training is ignored.

en: calls: expected number 10 to be 'train_end', yours is 'epoch_begin 1'
zh: calls：第 10 个应为 'train_end'，你的是 'epoch_begin 1'
"""

batches = [f"batch_{word} {number}" for number in range(3) for word in ("begin", "end")]
epochs = [[f"epoch_begin {n}", *batches, f"epoch_end {n}"] for n in range(3)]
calls = ["train_begin", *epochs[0], *epochs[1], *epochs[2], "train_end"]
sizes = [2, 2, 1]
names = ["loss", "val_loss"]
