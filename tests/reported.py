"""What a worker of the tests tells its controller: of what passed, only that it did.

xdist's workers tell when a test began, how each of its phases went and that it has ended: six
messages, of which the controller makes one dot. With tens of thousands of small tests that takes
longer than many of them do, and all those reports lie on both sides until the end, where every
garbage collection goes through them. So a phase that passed and has nothing to say is not told,
except for the call itself; and what a worker has told it forgets.

Who asks for more (`-v`, `--durations`, `-x`, ...) gets all of xdist.
"""

import pytest
from _pytest.runner import runtestprotocol


def install(config: pytest.Config) -> None:
    """Let this process, if it is a worker, tell only what is needed."""
    if hasattr(config, "workerinput") and not asks_for_more(config):
        config.pluginmanager.register(BriefWorker())


def asks_for_more(config: pytest.Config) -> bool:
    """Tell whether somebody wants to see more than how many passed, and what failed."""
    option = config.getoption
    return (
        config.get_verbosity() > 0
        or option("durations") is not None  # 0 shows all
        or any(map(option, ("maxfail", "setupshow", "setuponly", "xmlpath")))
    )


class BriefWorker:
    """Runs tests as pytest does, and reports those phases that say something."""

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item, nextitem: pytest.Item | None) -> bool:
        """Run a test; return that it was run."""
        for report in runtestprotocol(item, log=False, nextitem=nextitem):
            if says_something(report):
                item.ihook.pytest_runtest_logreport(report=report)
        item.config.pluginmanager.get_plugin("terminalreporter").stats.clear()
        return True


def says_something(report: pytest.TestReport) -> bool:
    """Tell whether a report is more than that a fixture did what it should."""
    is_quiet = report.passed and not report.sections and not report.user_properties
    return report.when == "call" or not is_quiet
