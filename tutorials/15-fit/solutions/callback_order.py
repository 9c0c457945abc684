batches = [f"batch_{word} {number}" for number in range(3) for word in ("begin", "end")]
calls = ["train_begin", "epoch_begin 0", *batches, "epoch_end 0", "train_end"]
sizes = [2, 2, 1]
names = ["loss", "val_loss"]
