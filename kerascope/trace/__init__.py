"""Walking and recording what the engine does; pure data, nothing is printed here.

`walking.py` goes through a forward pass step by step with real arrays. `story.py` is an observer
that turns the events of every stage into `Record`s (`records.py`), for `kerascope trace`; what it
says of each kind of stage is in the `tell_*.py` files, in the order of a script: build, compile,
train, call.
"""
