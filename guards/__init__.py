"""Guards: checks of the whole project that single tests cannot make.

Each guard is one command, also available as `python3 dev.py names` and so on::

    python -m guards.names            # what was added, removed, changed; --write accepts it
    python -m guards.prose            # stiff phrases in the docstrings and documents of each folder
    python -m guards.messages         # the form of every error and warning
    python -m guards.speed OTHER      # is this checkout slower than another one?
    python -m guards.mutants FOLDER   # do the tests notice a wrong line?
    python -m guards.wheel            # needs a network: it installs into an empty environment

`samples` writes files that all later versions of the code must open. `checkouts` copies a folder or
a revision for the other guards.

The package never imports this folder. Its tests are in `tests/guards`.
"""
