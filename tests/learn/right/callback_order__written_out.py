calls = [
    "train_begin",
    "epoch_begin 0",
    "batch_begin 0",
    "batch_end 0",
    "batch_begin 1",
    "batch_end 1",
    "batch_begin 2",
    "batch_end 2",
    "epoch_end 0",
    "train_end",
]
sizes = [2] * 2 + [1]
names = sorted(["val_loss", "loss"])
