"""Rows that prove the same of many things: the default set takes some of each kind.

A table that asks one question of hundreds of rows takes the default set minutes. What an edit
breaks, it nearly always breaks for every row of a kind: so the first row of each kind, and some of
its others, are asked by default; all others are marked `slow` and asked by `dev.py rest`.

Where the rows know of what kind they are, `thinned` says it beside them. `EVERY` is for tests whose
rows are all alike: which of them the default set takes, by what they cost.
"""

from collections import Counter
from collections.abc import Callable, Hashable, Iterable
from typing import Any

import pytest

# Of these tests the first row is in the default set, then every so manieth.
EVERY: dict[str, dict[str, int]] = {
    "tests/backend/test_rnn.py": {
        "test_gradients_agree_with_finite_differences": 3,
    },
    "tests/comparing/test_compare.py": {
        "test_a_port_of_a_random_model_is_equal_until_one_weight_changes": 3,
    },
    "tests/compat/test_keras_ops.py": {
        "test_on_arrays_it_computes_what_keras_3_computes": 3,
        "test_on_tensors_it_makes_a_graph_with_the_same_result": 2,
    },
    "tests/compat/test_old_keras.py": {
        "test_a_row_gives_what_the_real_keras_gives": 3,
    },
    "tests/debugger/test_check_grads.py": {
        "test_a_wrong_gradient_is_found_and_nothing_else_is_blamed": 3,
    },
    "tests/debugger/test_conditions_on_the_loss.py": {
        "test_it_stops_where_it_would_if_all_were_heard_and_leaves_the_same_behind": 4,
    },
    "tests/lessons/test_course.py": {
        "test_a_changed_line_is_named_with_its_chapter_its_block_and_its_place": 3,
    },
    "tests/lessons/test_notebook_and_reading.py": {
        "test_every_chapter_reads_in_the_terminal": 3,
    },
    "tests/saving/test_every_layer.py": {
        "test_in_dialect_3_an_h5_file_goes_to_keras_3_and_back": 3,
        "test_layer_goes_to_keras_3_and_back": 2,
    },
    "tests/saving/test_every_name.py": {
        "test_every_loss_means_the_same_in_keras_3": 3,
        "test_every_metric_means_the_same_in_keras_3": 3,
    },
    "tests/saving/test_files_of_keras1.py": {
        "test_a_file_of_keras_1_predicts_as_there": 3,
    },
    "tests/saving/test_graphs_of_keras3.py": {
        "test_the_calls_of_a_nested_model_are_the_same_ones_in_keras_3": 3,
    },
    "tests/saving/test_operations_of_keras3.py": {
        "test_an_operation_from_a_file_computes_the_same": 2,
    },
    "tests/saving/test_random_models.py": {
        "test_a_random_model_goes_to_keras_and_comes_from_it": 2,
    },
    "tests/test_backup.py": {
        "test_an_interrupted_run_ends_as_an_undisturbed_one": 2,
        "test_the_backup_of_another_run_is_refused_with_words_and_stays": 2,
    },
}


def leave_out(items: Iterable[pytest.Item]) -> None:
    """Mark as `slow` the rows of tests that the default set does not take."""
    seen: Counter[str] = Counter()
    for item in items:
        test = item.nodeid.partition("[")[0]
        file, _, name = test.partition("::")
        every = EVERY.get(file, {}).get(name)
        if every is None or any(item.get_closest_marker(name) for name in ("slow", "live")):
            continue
        if seen[test] % every:
            item.add_marker(pytest.mark.slow)
        seen[test] += 1


def thinned(rows: Iterable[Any], kind: Callable[[Any], Hashable], every: int = 3) -> list[Any]:
    """Return rows for `pytest.mark.parametrize`, of which the default set takes some.

    Parameters
    ----------
    rows : iterable
        Each is one argument of the test.
    kind : callable
        From a row to what it is of: an op, a layer, a chapter.
    every : int
        The first row of each kind is in the default set, then every so manieth of that kind.

    Returns
    -------
    list
        All rows in their order; those that are left out by default have the mark `slow`.
    """
    seen: Counter[Hashable] = Counter()
    found = []
    for row in rows:
        of = kind(row)
        found.append(pytest.param(row, marks=[pytest.mark.slow] if seen[of] % every else []))
        seen[of] += 1
    return found
