"""The pytest plugin selects and orders the tests, and records their results.

`running.py` copies this file next to the copied checkout and loads it with `-p`. Its instructions
are in the file named by the variable KERASCOPE_MUTANTS. It imports nothing from this project, so
it works with the tests of any revision.
"""

import json
import os

import pytest

ORDERS = {}


def pytest_configure(config):
    """Read the instructions."""
    with open(os.environ["KERASCOPE_MUTANTS"], encoding="utf-8") as file:
        ORDERS.update(json.load(file))


def pytest_sessionstart(session):
    """Switch off shrinking in Hypothesis: any failing example is enough."""
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
    """Run only the tests that the mutants guard lists, in its order; without a list, all."""
    wanted = ORDERS["tests"]
    if wanted is None:
        return
    place = {test: number for number, test in enumerate(wanted)}
    kept = [item for item in items if item.nodeid in place]
    config.hook.pytest_deselected(items=[item for item in items if item.nodeid not in place])
    items[:] = sorted(kept, key=lambda item: place[item.nodeid])


def pytest_runtest_logreport(report):
    """Write the outcome and the duration of each phase of a test to the report file."""
    with open(ORDERS["report"], "a", encoding="utf-8") as out:
        out.write(json.dumps([report.nodeid, report.outcome, report.duration]) + "\n")
