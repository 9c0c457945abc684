"""The guard of speed compares this checkout with another one, in one run on one machine.

`python -m guards.speed --help` prints the options. `worker.py` is one checkout in one process,
`asking.py` measures two of them in turn, `intervals.py` computes intervals of the ratios.
"""
