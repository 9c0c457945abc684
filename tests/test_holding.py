"""`holds_for`: a property on few examples by default, on many behind `slow`."""

import inspect

import pytest
from holding import holds_for
from hypothesis import strategies as st

drawn: list[tuple[str, int]] = []


@holds_for(st.integers(), few=3, many=40, derandomize=True)
def counted(word, number):
    drawn.append((word, number))


@holds_for(number=st.integers(0, 9), few=30, many=90)
def false(number):
    assert number < 4


def test_the_test_runs_twice_and_the_second_is_slow():
    (mark,) = counted.pytestmark
    name, (few, many) = mark.args
    assert (mark.name, name, few, many.values) == ("parametrize", "examples", 3, (40,))
    assert [mark.name for mark in many.marks] == ["slow"]


@pytest.mark.parametrize("examples", [3, 40])
def test_as_many_examples_are_drawn(examples):
    drawn.clear()
    counted(examples=examples, word="a")
    assert [word for word, _ in drawn] == ["a"] * examples


def test_other_arguments_are_left_to_pytest():
    assert list(inspect.signature(counted).parameters) == ["examples", "word"]
    assert list(inspect.signature(false).parameters) == ["examples"]


@pytest.mark.parametrize("examples", [30, 90])
def test_a_false_property_fails_and_tells_its_smallest_example(examples):
    with pytest.raises(AssertionError) as caught:
        false(examples=examples)
    assert "number=4" in "\n".join(caught.value.__notes__)
