"""The part that runs inside pytest: which tests, in which order, and what became of them.

`running.py` copies this file beside the copied checkout and loads it there by `-p`; it reads what
to do from the file that the variable KERASCOPE_MUTANTS names. It uses nothing of this project, so
that it fits the tests of any revision.
"""

import json
import os

import pytest

with open(os.environ["KERASCOPE_MUTANTS"], encoding="utf-8") as file:
    ORDERS = json.load(file)


def pytest_sessionstart(session):
    """Let Hypothesis report what it found first; a smaller example proves nothing more here."""
    try:
        from hypothesis import Phase, settings
    except ImportError:
        return
    parent = settings()
    phases = [Phase.explicit, Phase.generate]
    settings.register_profile("mutants", parent=parent, phases=phases, database=None)
    settings.load_profile("mutants")


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(config, items):
    """Keep the wanted tests only, in the wanted order."""
    wanted = ORDERS["tests"]
    if wanted is None:
        return
    place = {test: number for number, test in enumerate(wanted)}
    kept = [item for item in items if item.nodeid in place]
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in place])
    items[:] = sorted(kept, key=lambda item: place[item.nodeid])


def pytest_runtest_logreport(report):
    """Write down each phase of each test."""
    with open(ORDERS["report"], "a", encoding="utf-8") as out:
        out.write(json.dumps([report.nodeid, report.outcome, report.duration]) + "\n")
