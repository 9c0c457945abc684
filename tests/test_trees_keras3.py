"""keras.tree: functions on values inside of containers give what Keras 3's give."""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque, namedtuple
from typing import Any

import pytest
from keras_reference import answer, keras, real

from kerascope.compat import keras_tree as tree

pytestmark = pytest.mark.usefixtures("answers")

Pair = namedtuple("Pair", "x y")


class OwnList(list):
    pass


STRUCTURES = {
    "a number": 3,
    "None": None,
    "a word": "ab",
    "a list with None": [1, None, 2],
    "a dict out of order": {"b": 1, "a": [2, (3,)]},
    "a named tuple": Pair(1, [2]),
    "an ordered dict": OrderedDict([("b", 1), ("a", 2)]),
    "a dict with a default": defaultdict(list, {"b": 1, "a": 2}),
    "a deque": deque([1, [2]], maxlen=3),
    "nothing": (),
    "nothing deep": [1, {"z": ()}, {}],
    "numbers as keys": {10: "c", 2: "b"},
    "keys of several types": {1: 2, "a": 3, None: 4},
    "a list of one's own class": [OwnList([1])],
    "a set": {1},
}


def plain(found: Any) -> str:
    """Return a result as text, since keys, orders and classes count."""
    if isinstance(found, OrderedDict):  # Python 3.12 writes it differently
        return f"OrderedDict({list(found.items())})"
    return repr(found)


@pytest.mark.parametrize("name", STRUCTURES)
def test_each_container_is_gone_into_as_there(name: str) -> None:
    def all_of(module: Any) -> list[str]:
        given = STRUCTURES[name]
        count = len(module.flatten(given))
        return [
            plain(module.flatten(given)),
            plain(module.flatten_with_path(given)),
            plain(module.is_nested(given)),
            plain(module.map_structure(lambda x: (x,), given)),
            plain(module.map_structure(lambda x: (x,), given, none_is_leaf=False)),
            plain(module.lists_to_tuples(given)),
            plain(module.pack_sequence_as(given, "uvwxyz"[:count])),
            plain(module.traverse(lambda x: None, given)),
        ]

    assert all_of(tree) == answer(lambda: all_of(keras.tree))


def test_plain_structures_one_function_after_the_other() -> None:
    given = {"b": (1, None), "a": [2]}
    for name in ("flatten", "flatten_with_path", "is_nested", "lists_to_tuples"):
        assert plain(getattr(tree, name)(given)) == plain(getattr(keras.tree, name)(given))
    for name in ("map_structure", "map_shape_structure", "traverse"):
        assert getattr(tree, name)(repr, given) == getattr(keras.tree, name)(repr, given)
    shallow = {"b": 0, "a": [0]}
    found = tree.map_structure_up_to(shallow, repr, given)
    assert found == keras.tree.map_structure_up_to(shallow, repr, given)
    assert tree.pack_sequence_as(given, [4, 5, 6]) == keras.tree.pack_sequence_as(given, [4, 5, 6])
    for name in ("assert_same_structure", "assert_same_paths"):
        assert getattr(tree, name)(given, given) is getattr(keras.tree, name)(given, given) is None


PAIRS = {
    "numbers": (1, 2),
    "a number and a list": (1, [1]),
    "a list and a number": ([1], 1),
    "alike": ([1, (2,)], [3, (4,)]),
    "a list for a tuple": ([1, (2,)], [3, [4]]),
    "one more": ([1], [1, 2]),
    "one less": ([1, 2], [3]),
    "dicts in other orders": ({"b": 1, "a": 2}, {"a": 10, "b": 20}),
    "dicts of two kinds": ({"b": 1, "a": 2}, OrderedDict(a=10, b=20)),
    "another key": ({"a": 1}, {"b": 1}),
    "one key more": ({"a": 1}, {"a": 1, "b": 2}),
    "a key for a place": ({0: 1}, [1]),
    "None and a number": ([None], [1]),
    "None twice": ([None], [None]),
    "nothing and None": ([()], [None]),
    "a named tuple and a plain one": (Pair(1, 2), (1, 2)),
    "named tuples": (Pair(1, 2), Pair(3, 4)),
    "deeper": ([1, 2], [[1], {"a": 2}]),
    "nothing twice": ((), []),
}


def outcome(function: Any, *args: Any, **kwargs: Any) -> str:
    try:
        return plain(function(*args, **kwargs))
    except ValueError:
        return "ValueError"
    except TypeError:
        return "TypeError"


@pytest.mark.parametrize("name", PAIRS)
def test_two_structures_fit_or_are_refused_as_there(name: str) -> None:
    def all_of(module: Any) -> list[str]:
        a, b = PAIRS[name]

        def pair(x: Any, y: Any) -> Any:
            return (x, y)

        return [
            outcome(module.map_structure, pair, a, b),
            # Keras refuses None here, which is a value everywhere else.
            "" if None in module.flatten(a) else outcome(module.map_structure_up_to, a, pair, a, b),
            outcome(module.map_structure, pair, a, b, none_is_leaf=False),
            outcome(module.assert_same_structure, a, b),
            outcome(module.assert_same_paths, a, b),
        ]

    assert all_of(tree) == answer(lambda: all_of(keras.tree))


@pytest.mark.parametrize(
    "given",
    [(), [], None, 5, (1,), [None], [(1,), ()], {"a": ()}, (1, 2.5), (True,), [[1, 2], [3]]],
    ids=repr,
)
def test_a_shape_is_a_list_or_tuple_of_sizes(given: Any) -> None:
    def shapes(module: Any) -> list[str]:
        seen: list[Any] = []
        found = module.map_shape_structure(lambda x: seen.append(x) or "shape", given)
        return [plain(found), plain(seen)]

    assert shapes(tree) == answer(lambda: shapes(keras.tree))


@pytest.mark.parametrize("top_down", [True, False])
@pytest.mark.parametrize(
    "what",
    ["nothing", "tenfold", "None for 2", "a word for a tuple", "None for all"],
)
def test_traverse_goes_the_same_way(what: str, top_down: bool) -> None:
    given = [1, {"b": (2, 3), "a": None}]

    def way(module: Any) -> list[str]:
        seen: list[Any] = []

        def function(x: Any) -> Any:
            seen.append(plain(x))
            return {
                "nothing": None,
                "tenfold": x * 10 if isinstance(x, int) else None,
                "None for 2": module.MAP_TO_NONE if x == 2 else None,
                "a word for a tuple": "word" if isinstance(x, tuple) else None,
                "None for all": module.MAP_TO_NONE,
            }[what]

        module = real(module)  # what stands for the class itself cannot be returned
        return [plain(module.traverse(function, given, top_down)), *seen]

    assert way(tree) == answer(lambda: way(keras.tree))


@pytest.mark.parametrize("values", [[1], [1, 2, 3], [], "ab"])
def test_packing_wants_as_many_values_as_there_are_places(values: Any) -> None:
    found = outcome(tree.pack_sequence_as, [0, (0,)], values)
    assert found == answer(lambda: outcome(keras.tree.pack_sequence_as, [0, (0,)], values))


def test_what_is_wrong_is_said() -> None:
    with pytest.raises(ValueError, match=r"expected the structure of \{'a': 1\}"):
        tree.assert_same_structure([{"a": 1}], [{"b": 1}])
    with pytest.raises(ValueError, match=r"got at one place: 1, \[1\]"):
        tree.assert_same_structure([1], [[1]])
    with pytest.raises(ValueError, match=r"only in a: \[\('a',\)\], only in b: \[\(0,\)\]"):
        tree.assert_same_paths({"a": 1}, [1])
    with pytest.raises(TypeError, match="expected a function, got func=3"):
        tree.map_structure(3, [1])  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected at least one structure, got none"):
        tree.map_structure(print)


def test_what_is_given_stays_as_it_is() -> None:
    given = {"b": [1], "a": defaultdict(list, {"c": 2})}
    before = repr(given)
    tree.map_structure(lambda x: x + 1, given)
    tree.traverse(lambda x: None, given)
    tree.pack_sequence_as(given, [5, 6])
    assert repr(given) == before
