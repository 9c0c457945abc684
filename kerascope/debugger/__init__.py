"""The model debugger: what `python -m pdb` is to a program, this is to a model.

The mechanism lies in `kerascope.trace` (recorder, tape, stepper) and prints nothing; here is the
front. `session.py` runs a program under observation, `shell.py` is the base of all commands,
`front.py` puts the commands together, `rendering.py` writes what a stop looks like.
"""
