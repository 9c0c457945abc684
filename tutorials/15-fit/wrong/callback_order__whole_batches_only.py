"""The fifth row is left out.

en: calls: expected number 7 to be 'batch_begin 2', yours is 'epoch_end 0'
zh: calls：第 7 个应为 'batch_begin 2'，你的是 'epoch_end 0'
"""

batches = [f"batch_{word} {number}" for number in range(2) for word in ("begin", "end")]
calls = ["train_begin", "epoch_begin 0", *batches, "epoch_end 0", "train_end"]
sizes = [2, 2]
names = ["loss", "val_loss"]
