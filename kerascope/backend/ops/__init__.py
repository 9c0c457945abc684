"""The ops: each Op class and, directly below it, the backend function that calls it."""
