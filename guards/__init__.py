"""Guards: what must stay as it is while the code behind it changes.

`names` compares all that users can name with `names.txt`, `samples` opens what an earlier edition
wrote, `wheel` installs the package as users do and works with it. Each is one command::

    python -m guards.names            # what was added, removed, changed; --write accepts it
    python -m guards.wheel            # needs a network: it installs into an empty environment

Nothing of the package imports this folder; its tests are in `tests/guards`.
"""
