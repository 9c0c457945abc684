"""The model debugger: it does for a model what `python -m pdb` does for a program.

`kerascope.trace` records the events and moves among them (recorder, tape, stepper). It prints
nothing. This package is the user interface: `session.py` runs a program under observation,
`shell.py` is the base of all commands, `front.py` combines the commands, `rendering.py` prints the
stops.
"""
