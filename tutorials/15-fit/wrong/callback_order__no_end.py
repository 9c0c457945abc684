"""The call at the end of training is left out, because training is stopped early.

en: calls: expected number 10 to be 'train_end', yours has none
zh: calls：第 10 个应为 'train_end'，你的没有
"""

batches = [f"batch_{word} {number}" for number in range(3) for word in ("begin", "end")]
calls = ["train_begin", "epoch_begin 0", *batches, "epoch_end 0"]
sizes = [2, 2, 1]
names = ["loss", "val_loss"]
