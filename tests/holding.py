"""A property of all that a strategy draws: a few draws by default, many behind `slow`."""

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis.strategies import SearchStrategy


def holds_for(
    *strategies: SearchStrategy, few: int, many: int, derandomize: bool = False, **named: Any
) -> Callable[[Callable], Callable]:
    """Make a test of Hypothesis that runs twice: with `few` examples, and marked slow with `many`.

    What `strategies` and `named` do not give are pytest's arguments, as below `@given`.
    """

    def decorate(test: Callable) -> Callable:
        runs = {}
        for count in (few, many):
            how = settings(max_examples=count, deadline=None, derandomize=derandomize)
            runs[count] = how(given(*strategies, **named)(test))
        others = inspect.signature(runs[few]).parameters.values()

        @pytest.mark.parametrize("examples", [few, pytest.param(many, marks=pytest.mark.slow)])
        @wraps(test)
        def run(examples: int, **arguments: Any) -> None:
            runs[examples](**arguments)

        chosen = inspect.Parameter("examples", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        run.__signature__ = inspect.Signature([chosen, *others])
        return run

    return decorate
