"""The names that users rely on are as stored, and the guard sees when one is not."""

from __future__ import annotations

import json
from typing import Any, NamedTuple

import pytest

import kerascope as ks
from guards import commands, happenings, interface, names
from guards.interface import speaking
from kerascope.cli import commands as command_line
from kerascope.engine import network
from kerascope.layers import Dense

STORED = names.read()


@pytest.fixture(scope="module")
def present() -> list[str]:
    return names.all_facts(STORED)


def test_all_that_users_can_name_is_as_stored(present: list[str]) -> None:
    found = names.differences(STORED, present)
    assert not any(found), "\n".join(
        [*found.lines(), "If that is meant: python -m guards.names --write"]
    )


@pytest.mark.parametrize(
    "fact",
    [
        "name kerascope.losses.hinge: function (y_true, y_pred)",
        "name kerascope.errors.ShapeError is a ValueError",
        "name kerascope.Layer.count_params: ()",
        "name kerascope.backend.Tensor.__add__: special method",
        "import keras.layers.convolutional: all of kerascope.layers",
        "import keras.ops.relu6: function (x)",
        "[3] import keras.__version__ = '3.0.0'",
        "path kerascope.backend.gradient: gradient_stage",
        "command kerascope trace: --level; VALUE; one of node op; default 'node'",
        "debugger bt = where",
        "debugger tbreak: tbreak SEL[, condition]",
        "setting floatx: 'float32', one of ('float16', 'float32', 'float64')",
        "environment KERASCOPE_DIALECT",
        "stage fit yields EpochEnded(epoch, logs)",
        "stage run_internal_graph at NodeComputed shows tensor_map",
        "event update.apply I: tells new",
        "record build node: tells inputs",
        "tape file: a line has 'k'",
        "[3] log one output: val_accuracy",
        "[1.2] weight one output: dense_1_W",
        "graph, node, gradients: box has gradient_norm, float",
        "networkx, node: edge shape",
        "graphml: node depth, long",
    ],
)
def test_each_kind_of_fact_is_in_the_stored_list(fact: str) -> None:
    assert fact in STORED


def test_the_list_does_not_tell_where_it_was_written(present: list[str]) -> None:
    text = "\n".join(present)
    assert " at 0x" not in text
    assert str(interface.ROOT) not in text
    assert len(present) == len(set(present)) > 4000
    assert present == sorted(present)


# --- what is planted is found ---------------------------------------------------------------------


def reported(present: list[str], facts: list[str], subject: str) -> str:
    """Return what is reported about a subject when these facts replace all like it."""
    others = [fact for fact in present if not fact.startswith(subject)]
    new = [fact for fact in facts if fact.startswith(subject)]
    return "\n".join(names.differences(present, [*others, *new]).lines())


def package_names() -> list[str]:
    """Return what stands below `kerascope`, as the present code has it."""
    promised = filter(None, map(names.promised_place, STORED))
    return list(interface.package_facts(interface.Places(promised)))


def test_a_renamed_argument_is_seen(monkeypatch, present) -> None:
    def hinge(truth: Any, y_pred: Any) -> Any:
        return truth

    monkeypatch.setattr(ks.losses, "hinge", hinge)
    hinge.__module__ = "kerascope.losses.functions"
    said = reported(present, package_names(), "name kerascope.losses.hinge")
    assert said == (
        "changed  name kerascope.losses.hinge\n"
        "    was  function (y_true, y_pred)\n"
        "    is   function (truth, y_pred)"
    )


def test_a_method_that_went_away_and_another_default_are_seen(monkeypatch, present) -> None:
    home = next(c for c in ks.Layer.__mro__ if "count_params" in vars(c))
    monkeypatch.delattr(home, "count_params")
    old = Dense.__init__
    monkeypatch.setattr(old, "__kwdefaults__", {**(old.__kwdefaults__ or {})})
    monkeypatch.setattr(old, "__defaults__", ("relu", *(old.__defaults__ or ())[1:]))
    facts = package_names()
    assert "removed  name kerascope.Layer.count_params: ()" in reported(present, facts, "name ")
    said = reported(present, facts, "name kerascope.layers.Dense:")
    assert "was  class (units, activation=None" in said
    assert "is   class (units, activation='relu'" in said


def test_a_name_that_went_away_from_a_path_of_keras_is_seen(monkeypatch, present) -> None:
    kept = [name for name in ks.layers.__all__ if name != "Dense"]
    monkeypatch.setattr(ks.layers, "__all__", kept)
    said = reported(present, package_names(), "name kerascope.layers.Dense:")
    assert said.startswith("removed  name kerascope.layers.Dense: class (units")


def test_an_error_with_another_base_is_seen(monkeypatch, present) -> None:
    class ShapeError(ks.errors.KerascopeError):
        __module__ = "kerascope.errors"

    monkeypatch.setattr(ks.errors, "ShapeError", ShapeError)
    said = reported(present, package_names(), "name kerascope.errors.ShapeError")
    assert said == "removed  name kerascope.errors.ShapeError is a ValueError"


def test_a_renamed_option_and_another_choice_are_seen(monkeypatch, present) -> None:
    def options(parser: Any) -> None:
        parser.add_argument("script", metavar="script.py [argument ...]")
        parser.add_argument("--grain", choices=("node", "op"), default="node")
        parser.add_argument("--format", choices=("text", "md"), default="text")
        parser.add_argument("--batches", default=1, metavar="N")
        parser.add_argument("--live", action="store_true")

    trace = command_line.COMMANDS["trace"]._replace(add_options=options)
    monkeypatch.setitem(command_line.COMMANDS, "trace", trace)
    facts = list(commands.command_line_facts())
    level = "command kerascope trace: --{}; VALUE; one of node op; default 'node'"
    written = "command kerascope trace: --format; VALUE; one of text md{}; default 'text'"
    assert reported(present, facts, "command ").splitlines() == [
        f"removed  {written.format(' jsonl')}",
        f"removed  {level.format('level')}",
        f"added    {written.format('')}",
        f"added    {level.format('grain')}",
    ]


def test_a_debugger_command_that_went_away_is_seen(monkeypatch, present) -> None:
    monkeypatch.delitem(commands.COMMANDS.by_name, "unt")
    said = reported(present, list(commands.debugger_facts()), "debugger ")
    assert said == "removed  debugger unt = until"


def test_a_renamed_field_of_an_event_is_seen(monkeypatch, present) -> None:
    class NodeComputed(NamedTuple):
        node: Any
        depth: int
        computed: Any
        output_tensors: Any

    monkeypatch.setattr(network, "NodeComputed", NodeComputed)
    facts = list(happenings.stage_facts([happenings.forks]))
    said = reported(present, facts, "stage run_internal_graph yields NodeComputed")
    old = "NodeComputed(node, depth, computed_tensors, output_tensors)"
    new = "NodeComputed(node, depth, computed, output_tensors)"
    assert said.splitlines() == [
        f"removed  stage run_internal_graph yields {old}",
        f"added    stage run_internal_graph yields {new}",
    ]


def test_a_changed_key_of_a_log_is_seen(monkeypatch, present) -> None:
    named = ks.callbacks.History.on_epoch_end

    def on_epoch_end(self: Any, epoch: int, logs: Any = None) -> None:
        named(self, epoch, {key.replace("val_", "validation_"): v for key, v in logs.items()})

    monkeypatch.setattr(ks.callbacks.History, "on_epoch_end", on_epoch_end)
    with speaking("3"):
        facts = [f"[3] {fact}" for fact in happenings.log_facts()]
    said = reported(present, facts, "[3] log one output: val")
    assert "removed  [3] log one output: val_accuracy" in said
    assert "added    [3] log one output: validation_accuracy" in said


def test_an_attribute_that_an_export_lost_is_seen(monkeypatch, present) -> None:
    export = ks.to_networkx

    def without_shapes(*args: Any, **kwargs: Any) -> Any:
        graph = export(*args, **kwargs)
        for _, _, told in graph.edges(data=True):
            told.pop("shape", None)
        return graph

    monkeypatch.setattr(ks, "to_networkx", without_shapes)
    said = reported(present, list(happenings.export_facts()), "networkx, node")
    assert said == "removed  networkx, node: edge shape"


# --- names that may move, and names that may be told ----------------------------------------------


def test_a_function_that_is_defined_elsewhere_now_is_no_difference(monkeypatch, present) -> None:
    monkeypatch.setattr(ks.backend.relu, "__module__", "kerascope.backend.ops.other")
    monkeypatch.setattr(ks.to_tree, "__module__", "kerascope.elsewhere")
    facts = package_names()
    assert reported(present, facts, "name kerascope.backend.relu") == ""
    assert reported(present, facts, "name kerascope.to_tree") == ""


def test_a_printed_path_that_is_imported_no_more_is_seen() -> None:
    facts = set(interface.path_facts(["kerascope.stage: Stage", "kerascope.stage: Stages"]))
    assert "path kerascope.stage: Stage" in facts
    assert "path kerascope.stage: Stages" not in facts


def test_variables_are_found_however_they_are_asked_for() -> None:
    source = """
import os
A = "MY_A"
os.environ[A], os.environ.get("MY_B"), os.environ.pop("MY_C", None), {}.get("MY_D")
os.environ["SET"] = "1"
"""
    assert commands.variables_read(source) == {"MY_A", "MY_B", "MY_C"}


# --- the command ----------------------------------------------------------------------------------


def test_the_command_compares_writes_and_says_what_is_different(tmp_path, capsys) -> None:
    path = tmp_path / "names.txt"
    facts = ["event a", "name f: (x)"]
    assert names.main([], lambda stored: facts, path) == names.WRONG_USAGE
    assert "Create it with --write." in capsys.readouterr().err
    assert names.main(["--write"], lambda stored: facts, path) == names.SAME
    assert (
        capsys.readouterr().out == "2 facts written to names.txt: 0 removed, 2 added, 0 changed\n"
    )
    assert names.read(path) == facts
    assert names.main([], lambda stored: facts, path) == names.SAME
    assert capsys.readouterr().out == "2 facts, all as stored\n"
    assert names.main([], lambda stored: ["event b", "name f: (y)"], path) == names.DIFFERENT
    said = capsys.readouterr().out.splitlines()
    assert said[:2] == ["removed  event a", "added    event b"]
    assert said[2:5] == ["changed  name f", "    was  (x)", "    is   (y)"]
    assert said[5].endswith("python -m guards.names --write")


@pytest.mark.parametrize("words", [["--wrong"], ["more"]])
def test_wrong_usage_has_its_own_exit_code(words: list[str], capsys) -> None:
    with pytest.raises(SystemExit) as caught:
        names.main(words, lambda stored: [], names.FILE)
    assert caught.value.code == names.WRONG_USAGE
    assert "usage: python -m guards.names" in capsys.readouterr().err


def test_facts_are_plain_text_whatever_a_default_is() -> None:
    import numpy as np

    told = [interface.plain(value) for value in (np.float32(0.5), {"a": [1, (2,)]}, {3}, Dense)]
    assert told == ["<float32>", "{'a': [1, (2,)]}", "{3}", "<Dense>"]
    assert json.loads(interface.plain(1e-7)) == 1e-7
