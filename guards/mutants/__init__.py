"""This guard makes random mutants of a folder of kerascope, and checks that its tests fail.

`python -m guards.mutants --help` prints the options. `choosing.py` makes the mutants, `reaching.py`
finds the tests that reach each, `running.py` runs them, `command.py` is the command.
"""
