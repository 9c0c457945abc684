"""The student's own engine: where its parts come from, and that it trains as kerascope does."""

import json
import subprocess
import sys
import warnings
from importlib import import_module
from pathlib import Path

import numpy as np
import pytest

from kerascope import backend as K
from kerascope import layers, models, optimizers
from kerascope.datasets import digits
from kerascope.errors import KerascopeWarning
from kerascope.import_hook import OWN_ENGINE
from kerascope.learn.engine import parts_of, use_my_engine
from kerascope.learn.exercises import PROGRESS, Workbook, all_exercises, find_exercises
from kerascope.learn.running import check_file
from kerascope.learn.showing import shown
from kerascope.learn.verdicts import Outcome, Verdict

EXERCISES = all_exercises()
PARTS = [e for e in EXERCISES if e.part]
NAMES = ["graph", "layer", "graph_map", "network", "gradient", "function", "fit"]
RIGHT = Path(__file__).parent / "right"
PASS, FAIL = Outcome(Verdict.PASS), Outcome(Verdict.FAIL)


@pytest.fixture
def workbook(tmp_path):
    made = Workbook(tmp_path / "mine", EXERCISES)
    made.prepare("en")
    yield made
    for name in [name for name in sys.modules if name.partition(".")[0] == OWN_ENGINE]:
        del sys.modules[name]


def write(workbook, name, source, outcome):
    """Write the student's file of a part, and store a verdict on it."""
    exercise = PARTS[NAMES.index(name)]
    workbook.path_of(exercise).write_text(source, encoding="utf-8")
    workbook.remember(exercise, outcome)


def solution(name):
    return PARTS[NAMES.index(name)].solution.read_text(encoding="utf-8")


def run(*words, cwd):
    return subprocess.run([sys.executable, *words], cwd=cwd, capture_output=True, text=True)


def test_the_parts_are_exercises_of_seven_chapters_each_found_by_its_path():
    assert [e.part for e in PARTS] == [e.name for e in PARTS] == NAMES
    assert len({e.chapter for e in PARTS}) == 7
    for exercise in PARTS:
        assert find_exercises(EXERCISES, f"{OWN_ENGINE}/{exercise.name}.py")[0] == [exercise]


def test_a_part_is_the_students_if_it_has_passed_and_is_not_changed(workbook):
    assert [part.is_own for part in parts_of(workbook).values()] == [False] * 7
    write(workbook, "layer", solution("layer") + "\n\nMINE = 1\n", PASS)
    write(workbook, "fit", solution("fit") + "\n\nMINE = 1\n", FAIL)
    package = use_my_engine(workbook.folder)
    assert [name for name, part in package.parts().items() if part.is_own] == ["layer"]
    assert repr(package.parts()["layer"]) == "yours"
    assert import_module("my_engine.layer").MINE == 1
    with pytest.warns(KerascopeWarning, match=r"your fit.py has not passed its check"):
        assert not hasattr(import_module("my_engine.fit"), "MINE")
    workbook.path_of(PARTS[1]).write_text("changed = 1\n")
    use_my_engine(workbook.folder)
    with pytest.warns(KerascopeWarning, match=r"your layer.py was changed after its last check"):
        assert not hasattr(import_module("my_engine.layer"), "changed")


@pytest.mark.process
def test_a_check_does_not_take_the_warning_for_the_output_of_the_file(workbook):
    write(workbook, "fit", solution("fit") + "\n\nMINE = 1\n", FAIL)
    write(workbook, "network", solution("network") + "\n\nprint('mine')\n", FAIL)
    network = PARTS[NAMES.index("network")]
    outcome = check_file(network, workbook.path_of(network))
    assert (outcome.verdict, outcome.printed) == (Verdict.PASS, "mine\n")


@pytest.mark.parametrize("more", ["", "LOSSES['mse'] = mean_squared_error\n"])
def test_a_stub_that_is_untouched_is_no_warning(workbook, more):
    """The one of another version of kerascope, which is another program, is none either."""
    path = workbook.path_of(PARTS[NAMES.index("fit")])
    path.write_text(path.read_text(encoding="utf-8") + more, encoding="utf-8")
    use_my_engine(workbook.folder)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert import_module("my_engine.fit").Model.__module__ == "my_engine.fit"


@pytest.mark.slow
@pytest.mark.process
def test_a_check_takes_the_students_file_of_the_part_and_its_other_parts_that_passed(workbook):
    helper = '\n\ndef helper():\n    return "from my own graph"\n'
    write(workbook, "graph", solution("graph") + helper, PASS)
    source = solution("layer").replace(
        "from my_engine.graph import Dot", "from .graph import helper, Dot"
    )
    write(workbook, "layer", f"{source}\nassert helper()\n", FAIL)
    exercise = PARTS[1]
    assert check_file(exercise, workbook.path_of(exercise)).verdict is Verdict.PASS
    write(workbook, "layer", source.replace("self.built = False", "self.built = True"), PASS)
    assert check_file(exercise, workbook.path_of(exercise)).verdict is Verdict.FAIL


@pytest.mark.slow
@pytest.mark.process
def test_a_part_imports_other_parts_and_files_of_its_package_by_their_full_names(workbook):
    (workbook.folder / OWN_ENGINE / "helpers.py").write_text("HELPER = 1\n")
    write(workbook, "layer", f"from my_engine.helpers import HELPER\n{solution('layer')}", FAIL)
    exercise = PARTS[1]
    assert check_file(exercise, workbook.path_of(exercise)).verdict is Verdict.PASS
    source = solution("layer").replace("from my_engine.graph", "from graph")
    write(workbook, "layer", source, FAIL)
    outcome = check_file(exercise, workbook.path_of(exercise))
    assert "No module named 'graph'" in outcome.message.en


def test_the_repr_of_the_students_objects_is_not_computed_for_a_message():
    """That of a tensor written as a dataclass contains its whole graph, many times."""

    class Tensor:
        def __repr__(self):
            raise AssertionError

    Tensor.__module__ = "my_engine.graph"
    x = Tensor()
    found = [shown(value, "en") for value in (x, [x, 1], (x,), {x: x})]
    assert found == ["a Tensor", "[a Tensor, 1]", "[a Tensor]", "{a Tensor: a Tensor}"]


@pytest.mark.slow
@pytest.mark.process
def test_a_script_imports_the_engine_also_one_started_inside_its_folder(workbook):
    write(workbook, "graph", solution("graph") + "\n\nMINE = 1\n", PASS)
    words = "import my_engine\nfrom my_engine.graph import MINE\nprint(my_engine.parts())\n"
    (workbook.folder / "train.py").write_text(words)
    ran = run("train.py", cwd=workbook.folder)
    assert ran.stdout.startswith("{'graph': yours, 'layer': kerascope's,"), ran.stderr
    write(workbook, "layer", f"{solution('layer')}\n{words}", PASS)
    for cwd, name in (
        (workbook.folder, "my_engine/layer.py"),
        (workbook.folder / OWN_ENGINE, "layer.py"),
    ):
        ran = run(name, cwd=cwd)
        assert ran.stdout.startswith("{'graph': yours, 'layer': yours,"), ran.stderr


def test_a_folder_of_the_second_edition_keeps_its_work_and_gets_the_parts(tmp_path):
    """It has no parts, and files of the student's own may have their names."""
    old = [e for e in EXERCISES if not e.part][:5]
    before = Workbook(tmp_path, old)
    before.prepare("zh")
    before.path_of(old[0]).write_bytes(old[0].solution.read_bytes())
    before.remember(old[0], PASS)
    stored = json.loads((tmp_path / PROGRESS).read_text(encoding="utf-8"))
    own = tmp_path / OWN_ENGINE / "graph.py"
    own.parent.mkdir()
    own.write_text("mine = 1\n")
    after = Workbook(tmp_path, EXERCISES)
    assert (after.language, after.notice) == ("zh", "")
    assert json.loads((tmp_path / PROGRESS).read_text(encoding="utf-8")) == stored
    after.prepare("zh")
    assert own.read_text() == "mine = 1\n"
    assert after.is_passed(old[0])
    assert [after.is_passed(e) for e in PARTS] == [False] * 7
    assert {path.name for path in own.parent.iterdir()} >= {"__init__.py", "fit.py", "my_engine.py"}
    assert "写" in (tmp_path / OWN_ENGINE / "fit.py").read_text(encoding="utf-8")


def own_model(units=64, lr=0.1):
    layer, function = import_module("my_engine.layer"), import_module("my_engine.function")
    x = layer.Input((64,))
    y = layer.Dense(10, activation="softmax")(layer.Dense(units, activation="relu")(x))
    model = import_module("my_engine.fit").Model(x, y)
    model.compile(function.SGD(lr), "categorical_crossentropy")
    return model


def pixels():
    (x, y), (x_test, y_test) = digits.load_data()
    return x.reshape(-1, 64) / 16, np.eye(10)[y], x_test.reshape(-1, 64) / 16, y_test


@pytest.mark.parametrize("style", [0, 1, 2], ids=["first", "second", "third"])
def test_parts_in_any_style_work_together_and_read_the_digits(workbook, style):
    for name in NAMES:
        path = sorted(RIGHT.glob(f"{name}__*.py"))[style]
        write(workbook, name, path.read_text(encoding="utf-8"), PASS)
    package = use_my_engine(workbook.folder)
    assert all(part.is_own for part in package.parts().values())
    np.random.seed(0)
    model = own_model()
    x, y, x_test, y_test = pixels()
    losses = model.fit(x, y, epochs=12)
    assert losses == sorted(losses, reverse=True)
    assert np.mean(model.predict(x_test).argmax(axis=-1) == y_test) >= 0.95


def test_ten_steps_agree_with_kerascope(workbook):
    use_my_engine(workbook.folder)
    np.random.seed(0)
    own = own_model()
    x, y, _, _ = pixels()
    before = K.floatx()
    K.set_floatx("float64")
    try:
        inputs = layers.Input((64,))
        hidden = layers.Dense(64, activation="relu")(inputs)
        theirs = models.Model(inputs, layers.Dense(10, activation="softmax")(hidden))
        theirs.compile(optimizers.SGD(0.1), "categorical_crossentropy")
    finally:
        K.set_floatx(before)
    theirs.set_weights(own.get_weights())
    for step in range(10):
        rows = slice(32 * step, 32 * step + 32)
        found, expected = (m.train_on_batch(x[rows], y[rows]) for m in (own, theirs))
        assert found == pytest.approx(expected, abs=1e-6)
    for one, other in zip(own.get_weights(), theirs.get_weights(), strict=True):
        np.testing.assert_allclose(one, other, atol=1e-6)


@pytest.mark.slow
@pytest.mark.process
def test_blocks_that_run_elsewhere_use_the_parts_of_the_workbook(workbook, tmp_path, monkeypatch):
    """As in a notebook, whose blocks and sessions run in a temporary folder."""
    write(workbook, "graph", solution("graph"), PASS)
    words = "from kerascope.learn.engine import use_my_engine\nprint(use_my_engine().parts())\n"
    block = f"""
from pathlib import Path
from kerascope.lessons.notebook import kscope, prepare
prepare()
{words}
Path("own.py").write_text({words!r})
kscope("own.py", commands="c\\nq")
"""
    ran = run("-c", block, cwd=workbook.folder)
    assert ran.stdout.count("{'graph': yours, 'layer': kerascope's,") == 2, ran.stderr
