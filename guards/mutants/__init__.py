"""The guard of mutants checks that the tests of a folder of kerascope fail on random mutants.

`python -m guards.mutants --help` prints the options. `choosing.py` makes the mutants, `reaching.py`
finds the tests that reach each, `running.py` runs them, `command.py` is the command.
"""
