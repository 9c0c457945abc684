"""Random one-line mutants of a folder of kerascope, and whether its tests detect them.

`python -m guards.mutants --help` prints the options. `choosing.py` makes the mutants, `reaching.py`
finds the tests that reach each, `running.py` runs them, `command.py` is the command.
"""
