"""The ops: each Op class and, directly under it, the function that Keras's backend so names."""
