import pytest

from kerascope.learn.running import is_attempted, open_places

STUB = b'''"""Do it."""

from keras import backend as K

answer = ...


def double(x):
    """Say."""
    return ...


class Layer:
    def call(self, x):
        ...
'''


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"answer", b"# I think about it\nanswer"),
        (b"\n\n\n", b"\n\n"),
        (b'"""Do it."""', b'"""Other words, \xe5\x88\xab\xe7\x9a\x84."""'),
        (b"from keras import backend as K", b"import numpy as np"),
        (b"    return ...", b"    print(x)\n    return (...)"),
        (b"\n", b"\r\n"),
        (b"        ...", b"        pass\n        ..."),
    ],
)
def test_what_computes_nothing_is_no_attempt(old, new):
    assert old in STUB
    assert not is_attempted(STUB, STUB.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"answer = ...", b"answer = 3"),
        (b"return ...", b"return 2 * x"),
        (b"        ...", b"        return x"),
        (b"        ...", b"        pass"),
        (b"return ...", b"return ...\n\n\ndouble = K.abs"),
        (b"answer = ...", b"answer = (("),
        (b"answer = ...", b"answer = 1\0"),
        (STUB, b""),
        (STUB, b"\xff\xfe broken"),
    ],
)
def test_a_changed_program_is_an_attempt(old, new):
    assert old in STUB
    assert is_attempted(STUB, STUB.replace(old, new))


def test_open_places_are_told_by_their_lines():
    assert open_places(STUB) == [5, 10, 15]
    assert open_places(b"a = x[..., 0]\nb = x[...]\n") == []
    assert open_places(b"a = f(..., [...])\nb = x[f(...)]\n") == [1]
    assert open_places(b"def (:") == []
