"""Nothing got slower: this checkout beside another one, in one run on one machine.

`python -m guards.speed --help` prints the options. `worker.py` is one checkout in one process,
`asking.py` asks two of them in turn, `intervals.py` says what the ratios prove.
"""
