"""Guards: what must stay as it is while the code behind it changes.

Each is one command, also by `python3 dev.py names` and so on::

    python -m guards.names            # what was added, removed, changed; --write accepts it
    python -m guards.speed OTHER      # this checkout beside another one, in turn
    python -m guards.mutants FOLDER   # is a wrong line of it noticed by the tests?
    python -m guards.wheel            # needs a network: it installs into an empty environment

`samples` is what wrote the files of an earlier edition, which the tests open; `checkouts` copies a
folder or a revision for the others.

Nothing of the package imports this folder; its tests are in `tests/guards`.
"""
