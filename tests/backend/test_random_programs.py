"""Random functions as programs and by their events: the same bits, and nothing else is touched.

`random_programs.py` makes them; a seed names one. A difference is printed as a recipe, shrunk, that
is a test by itself: it goes to the end of this file.
"""

import numpy as np
import pytest
from random_programs import (
    CALLS,
    LAYOUTS,
    MAKERS,
    Call,
    Made,
    Recipe,
    bits,
    difference,
    recipe,
    shrunk,
)

FEW = range(220)
MANY = range(10_000)


def assert_same(seeds):
    for seed in seeds:
        drawn = recipe(seed)
        if difference(drawn) is not None:
            short = shrunk(drawn)
            pytest.fail(f"seed {seed}: {difference(short)}\n{short}")


def test_some_hundred_random_functions():
    assert_same(FEW)


@pytest.mark.slow
@pytest.mark.parametrize("start", range(0, len(MANY), 1000))
def test_ten_thousand_random_functions(start):
    assert_same(MANY[start : start + 1000])


# --- what is drawn --------------------------------------------------------------------------------


def test_everything_is_drawn():
    drawn = [recipe(seed) for seed in FEW]
    whats = {what for one in drawn for what, _, _ in one.instructions}
    assert whats - {"placeholder", "variable", "constant"} == set(MAKERS)
    calls = [call for one in drawn for call in one.calls]
    assert {call.layout for call in calls} == {"plain", *LAYOUTS}
    assert {call.size for call in calls} >= {0, 1, 3}
    assert any(len(one.functions) > 1 for one in drawn)
    assert {one.floatx for one in drawn} == {"float16", "float32", "float64"}
    assert {len(one.calls) for one in drawn} == {CALLS}


def test_a_seed_names_a_function():
    assert recipe(7) == recipe(7)
    assert recipe(7) != recipe(8)


def test_what_is_printed_makes_the_same_function_again():
    for seed in range(20):
        drawn = recipe(seed)
        assert eval(str(drawn), {"Recipe": Recipe, "Made": Made, "Call": Call}) == drawn


def test_nan_has_no_bits_of_its_own_and_zeros_have():
    assert bits(np.float32(np.nan)) == bits(-np.float32(np.nan))
    assert bits(0.0) != bits(-0.0)
    assert bits(np.float32(0)) != bits(np.float64(0))


def test_a_recipe_is_shrunk_to_what_fails():
    def fails(one):
        whats = [what for what, _, _ in one.instructions]
        return "exp" in whats and len(one.calls) > 2

    drawn = next(one for one in map(recipe, range(100)) if fails(one))
    short = shrunk(drawn, fails)
    assert fails(short)
    assert len(short.calls) == 3
    assert len(short.instructions) <= 2
    assert {call.layout for call in short.calls} == {"plain"}


# --- what failed once -----------------------------------------------------------------------------


def test_a_loop_without_steps_hands_back_its_first_state():
    given = Recipe(
        "float16",
        (
            ("variable", (), ((1,), "float16", 589)),
            ("fold_pair", (0,), "second"),
            ("exp", (0,), None),
        ),
        (Made((1, 2)),),
        (Call(0, 0, 255), Call(0, 0, 441), Call(0, 0, 150)),
    )
    assert difference(given) is None


def test_a_view_of_a_branch_that_no_call_has_taken_is_not_made_before():
    given = Recipe(
        "float32",
        (
            ("placeholder", (), ((None,), "bool")),
            ("variable", (), ((3, 3), "int32", 427)),
            ("cast", (0,), "float16"),
            ("squeeze", (2,), -1),
            ("dot", (2, 2), None),
            ("switch", (1, 3, 4), None),
        ),
        (Made((5,)),),
        (Call(0, 2, 218), Call(0, 2, 334), Call(0, 2, 335)),
    )
    assert difference(given) is None


def test_what_somebody_elses_op_is_given_lies_in_memory_as_it_does_for_the_steps():
    # NumPy's power of one number that lies backwards is rounded otherwise.
    given = Recipe(
        "float32",
        (
            ("placeholder", (), ((None,), "float32")),
            ("reverse", (0,), 0),
            ("keeps", (1,), None),
            ("power", (2,), 3.0),
        ),
        (Made((3,)),),
        (Call(0, 1, 500), Call(0, 1, 246), Call(0, 1, 666)),
    )
    assert difference(given) is None


def test_a_wrong_index_is_refused_though_nobody_reads_the_rows():
    given = Recipe(
        "float32",
        (
            ("placeholder", (), ((2, 3), "float32")),
            ("gather", (0, 0), None),
            ("gradient", (0, 1), None),
        ),
        (Made((2,)),),
        (Call(0, 1, 249), Call(0, 1, 706), Call(0, 1, 279, specials=True)),
    )
    assert difference(given) is None
