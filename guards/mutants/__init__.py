"""Random one-line mutants of a folder of kerascope: what its tests notice.

`python -m guards.mutants --help` prints the options. `choosing.py` makes the mutants, `reaching.py`
finds which tests come to each, `running.py` runs them, `command.py` is the command.
"""
