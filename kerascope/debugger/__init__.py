"""The model debugger: it does for a model what `python -m pdb` does for a program.

The mechanism is in `kerascope.trace` (recorder, tape, stepper) and prints nothing. This package is
the user interface: `session.py` runs a program under observation, `shell.py` is the base of all
commands, `front.py` combines the commands, `rendering.py` prints the stops.
"""
