"""The outputs of f are named after the layer.

en: expected names to be ['loss', 'val_loss'], yours is ['dense_1_loss', 'val_dense_1_loss']: no metrics were asked for
zh: names 应为 ['loss', 'val_loss']，你的是 ['dense_1_loss', 'val_dense_1_loss']：没有要求别的评价
"""

batches = [f"batch_{word} {number}" for number in range(3) for word in ("begin", "end")]
calls = ["train_begin", "epoch_begin 0", *batches, "epoch_end 0", "train_end"]
sizes = [2, 2, 1]
names = ["dense_1_loss", "val_dense_1_loss"]
