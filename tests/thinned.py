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
    "tests/applications/test_applications.py": {
        "test_architecture_has_the_published_size": 2,
    },
    "tests/backend/test_alarms_of_ops.py": {
        "test_an_alarm_rings_wherever_an_op_makes_what_did_not_go_in": 2,
    },
    "tests/backend/test_compiled_loops.py": {
        "test_training_is_the_same_bit_for_bit_stepped_and_run": 2,
    },
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
        "test_a_row_gives_what_the_real_keras_gives": 5,
    },
    "tests/debugger/test_check_grads.py": {
        "test_a_wrong_gradient_is_found_and_nothing_else_is_blamed": 3,
        "test_right_gradients_agree": 3,
    },
    "tests/debugger/test_conditions_on_the_loss.py": {
        "test_it_stops_where_it_would_if_all_were_heard_and_leaves_the_same_behind": 8,
    },
    "tests/debugger/test_rerun.py": {
        "test_what_another_run_has_not_is_told": 4,
        "test_a_fork_is_what_a_program_that_does_it_gives": 2,
        "test_a_sign_before_the_equals_sign_computes_with_what_it_was": 2,
        "test_what_came_out_in_another_run_is_put_in_the_same_call_of_this_one": 2,
    },
    "tests/debugger/test_tables.py": {
        "test_every_table_answers_everywhere_and_no_line_is_too_wide": 3,
    },
    "tests/engine/test_interrupts.py": {
        "test_an_interrupted_step_is_done_wholly_or_not_at_all": 2,
    },
    "tests/engine/test_metrics_over_batches.py": {
        "test_metrics_of_batches_of_other_sizes_and_weights": 3,
        "test_metrics_of_steps_with_a_mask": 3,
    },
    "tests/engine/test_random_interrupts.py": {
        "test_no_interrupt_leaves_a_state_that_no_whole_step_has": 3,
    },
    "tests/engine/test_scale.py": {
        "test_the_number_of_calls_grows_no_faster_than_the_chain": 2,
    },
    "tests/engine/test_training_keras3.py": {
        "test_ten_steps_of_every_optimizer_agree": 2,
    },
    "tests/engine/test_updates_in_order.py": {
        "test_each_call_starts_from_the_result_of_the_last_one": 3,
    },
    "tests/layers/test_augmentation_keras3.py": {
        "test_a_file_with_an_augmentation_goes_to_keras_3_and_back": 3,
    },
    "tests/layers/test_normalization.py": {
        "test_the_moving_variance_is_that_of_the_dialect": 3,
    },
    "tests/learn/test_workbook.py": {
        "test_python_alone_runs_an_exercise_that_imports_keras": 2,
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
    "tests/saving/test_masks_of_keras3.py": {
        "test_masks_made_given_and_causal_stay_what_they_are": 2,
    },
    "tests/saving/test_operations_of_keras3.py": {
        "test_an_operation_from_a_file_computes_the_same": 2,
    },
    "tests/saving/test_random_models.py": {
        "test_a_random_model_goes_to_keras_and_comes_from_it": 2,
        "test_a_mistake_that_was_made_once_is_found": 2,
    },
    "tests/test_backup.py": {
        "test_an_interrupted_run_ends_as_an_undisturbed_one": 4,
        "test_the_backup_of_another_run_is_refused_with_words_and_stays": 4,
        "test_what_some_callbacks_did_and_others_not_is_done_once": 4,
        "test_a_file_that_somebody_forged_is_refused": 4,
    },
    "tests/test_counted.py": {
        "test_a_whole_run_fails_when_a_test_has_gone_and_only_then": 2,
        "test_where_a_library_is_missing_its_tests_are_not_missed": 2,
    },
    "tests/test_dialect_3.py": {
        "test_a_model_trains_on_from_its_file_as_it_would_have": 3,
        "test_accuracy_is_that_of_the_shapes_and_logs_have_the_words_that_asked": 2,
        "test_a_pickle_trains_on_as_the_model_would_have": 3,
    },
    "tests/test_guides_keras3.py": {
        "test_a_guide_prints_what_it_prints_with_keras_3": 2,
    },
    "tests/test_model_files.py": {
        "test_each_verb_takes_the_path_as_it_takes_the_model": 3,
        "test_what_needs_a_loss_finds_that_of_the_file": 3,
    },
    "tests/test_warm_python.py": {
        "test_code_does_what_it_does_in_a_new_python": 3,
        "test_a_copy_heeds_the_environment": 3,
    },
    "tests/trace/test_alarms.py": {
        "test_it_stops_where_it_stops_if_every_call_is_heard": 6,
        "test_only_calls_with_something_to_catch_are_heard": 6,
    },
    "tests/trace/test_forks.py": {
        "test_a_fork_with_another_weight_is_what_the_program_makes_of_it": 6,
        "test_so_is_one_that_leaves_between_two_calls_and_runs_on_in_steps": 6,
        "test_a_fork_without_a_change_is_its_parent_bit_for_bit": 6,
    },
    "tests/trace/test_journal.py": {
        "test_the_tape_is_that_of_a_session_that_heard_all": 6,
        "test_a_trace_tells_what_it_would_have_told_if_it_had_heard_all": 6,
        "test_whatever_time_is_asked_for_in_whatever_order_the_names_are_those_of_then": 6,
        "test_breakpoints_stop_where_they_would_if_all_were_heard": 6,
        "test_to_look_back_changes_no_weight_and_writes_no_program": 6,
    },
    "tests/trace/test_recorder_failures.py": {
        "test_a_failure_in_a_callback": 3,
    },
    "tests/trace/test_tape_forgetting.py": {
        "test_the_memory_is_bounded_however_long_it_trains": 2,
    },
    "tests/viz/figure/test_figure.py": {
        "test_a_known_model_takes_the_form_in_which_it_is_published": 2,
        "test_no_line_runs_through_a_text_and_nothing_reaches_over_the_edge": 2,
    },
    "tests/viz/figure/test_generated_figures.py": {
        "test_a_figure_of_a_generated_model_is_true": 2,
    },
    "tests/viz/figure/test_printed.py": {
        "test_words_of_a_pdf_stand_where_svg_has_them_and_none_is_wider_or_under_6_points": 3,
    },
    "tests/viz/test_collapse.py": {
        "test_known_architectures_are_readable": 2,
    },
    "tests/viz/test_drawing.py": {
        "test_graphviz_draws_every_box_and_arrow_too": 3,
    },
    "tests/viz/test_ladder.py": {
        "test_well_known_models_are_drawn_whole": 3,
        "test_at_every_level_the_arrows_of_the_picture_are_those_of_the_graph": 2,
        "test_open_ladders_of_the_zoo_are_drawn_whole_and_no_arrow_crosses_a_card": 2,
    },
    "tests/viz/test_ladder_nested.py": {
        "test_opened_ladders_are_drawn_whole_and_no_arrow_crosses_a_card": 2,
    },
    "tests/viz/test_settings.py": {
        "test_every_form_of_the_graph_has_the_settings": 4,
    },
    "tests/viz/test_tables.py": {
        "test_no_column_and_no_letter_is_lost": 3,
    },
    "tests/viz/test_to_dot.py": {
        "test_dot_draws_every_box_arrow_and_frame_of_the_zoo": 3,
    },
    "tests/viz/test_to_networkx.py": {
        "test_every_graph_of_the_zoo_comes_back_equal": 3,
    },
    "tests/viz/test_viewer_places.py": {
        "test_a_ladder_lies_where_python_puts_it_whatever_is_open": 2,
        "test_everything_open_lies_where_python_puts_it": 2,
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
