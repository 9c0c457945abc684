"""`kerascope profile` and `ks.profile`: sums, names, pictures, JSON, and what they refuse.

No test here depends on how long anything takes: the clock is a counter, and what the machine can do
is given; the command itself is only asked for what adds up.
"""

import io
import json
from itertools import count
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from browser import OpenPage, browser
from rich.console import Console

import kerascope as ks
from kerascope import backend as K
from kerascope.backend.function import Function
from kerascope.cli import main, profiling
from kerascope.errors import ArgumentError, DtypeError, NotCompiledError
from kerascope.layers import Dense, Input, add
from kerascope.models import Model, Sequential
from kerascope.viz import theme
from kerascope.viz.graph import Graph, GraphEdge, GraphGroup, GraphNode
from kerascope.viz.overlays.times import Times, with_times
from kerascope.viz.profile.rows import Roofline, measure_roofline
from kerascope.viz.theme import contrast

SVG = "{http://www.w3.org/2000/svg}"
MACHINE = Roofline(1e9, 256, {1 << 10: 4e9, 1 << 20: 1e9})
BUILD = """
import sys
import numpy as np
from keras.layers import Dense, Dropout, Input
from keras.models import Model

def work():
    inner = Input((4,), name="inside")
    encoder = Model(inner, Dense(3, activation="relu", name="narrow")(inner), name="encoder")
    x = Input((4,), name="x")
    model = Model(x, Dense(2, name="out")(Dropout(0.5, name="mix")(encoder(x))), name="mine")
    model.compile("rmsprop", "mse")
    print("words", sys.argv[1:])
    model.fit(np.ones((20, 4)), np.ones((20, 2)), batch_size=8, epochs=3, verbose=0)
    model.predict(np.ones((6, 4)))
"""
SCRIPT = BUILD + "work()\n"


def square_clock():
    """Return a clock whose every reading comes later by more than the one before."""
    numbers = count()
    return lambda: next(numbers) ** 2


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(profiling, "measure_roofline", lambda: MACHINE)
    monkeypatch.setenv("COLUMNS", "110")
    K.clear_session()
    np.random.seed(0)
    Path("script.py").write_text(SCRIPT, encoding="utf-8")


def shared_model():
    x = Input((3,), name="x")
    shared = Dense(3, name="shared")
    inside = Input((3,), name="inside")
    part = Model(inside, Dense(4, name="deep")(inside), name="part")
    model = Model(x, Dense(1, name="out")(part(add([shared(x), shared(shared(x))]))), name="twice")
    model.compile("sgd", "mse", metrics=["mae"])
    return model


def profile_of(model, **options):
    options = {"repeats": 2, "clock": square_clock(), "roofline": MACHINE, **options}
    return ks.profile(model, np.ones((5, 3)), np.ones((5, 1)), **options)


# --- what adds up ---------------------------------------------------------------------------------


@pytest.mark.parametrize("of", ["train", "test", "predict"])
def test_phases_layers_and_ops_have_one_sum(of):
    found = profile_of(shared_model(), of=of)
    for rows in (found.rows, found.phases, found.layers):
        assert sum(row.seconds for row in rows) == pytest.approx(found.seconds)
        assert sum(row.share for row in rows) == pytest.approx(1)
    for rows in (found.phases, found.layers):
        assert sum(row.ops for row in rows) == len(found.rows)
        assert sum(row.n_bytes for row in rows) == found.measured.needed
    for row in found.layers:
        assert row.forward + row.backward + row.update == pytest.approx(row.seconds)


def test_layers_are_told_by_their_paths_in_the_model():
    found = profile_of(shared_model())
    layers = {row.layer: row for row in found.layers}
    assert set(layers) == {
        "shared", "add_1", "part/deep", "out", "out_loss", "out_metrics", "optimizer", "(returned)",
    }  # fmt: skip
    assert layers["part/deep"].class_name == "Dense"
    assert all(layers[name].update > 0 for name in ("shared", "part/deep", "out"))
    assert layers["add_1"].update == 0
    assert layers["out_loss"].backward > 0


def test_a_dot_is_compared_with_the_best_product_and_an_addition_with_a_copy():
    found = profile_of(shared_model(), of="predict")
    rows = {row.name: row for row in found.rows}
    dot = rows["part/deep/dot"]
    assert dot.multiply_adds == 5 * 3 * 4
    assert dot.traffic == 4 * (5 * 3 + 3 * 4 + 5 * 4)
    assert dot.bound_by == "products"
    assert dot.of_limit == pytest.approx(2 * 60 / 1e9 / dot.seconds)
    addition = rows["part/deep/add"]
    assert (addition.multiply_adds, addition.bound_by) == (0, "memory")
    assert addition.of_limit == pytest.approx(4 * (20 + 4 + 20) / 4e9 / addition.seconds)


def test_the_machine_is_measured_with_the_clock_that_is_given():
    ticks = count(0, 1000)
    found = measure_roofline(lambda: next(ticks))
    assert (found.flops, found.size) == (pytest.approx(2 * 1024**3 / 1e-6), 1024)
    assert found.bytes[1 << 14] == pytest.approx(2 * (1 << 14) / 1e-6)


def test_a_profile_leaves_the_model_as_it_was():
    model = shared_model()
    before = [w.tobytes() for w in model.get_weights()]
    profile_of(model)
    assert [w.tobytes() for w in model.get_weights()] == before
    assert K.get_value(model.optimizer.iterations) == 0


# --- how it shows itself --------------------------------------------------------------------------


def test_it_shows_itself_printed_in_a_terminal_and_in_a_notebook():
    found = profile_of(shared_model(), most=3)
    assert repr(found).startswith("<Profile of train_function of twice: ")
    text = str(found)
    assert all(title in text for title in ("By phase", "By layer", "By op, sorted by time: 3 of "))
    assert max(map(len, text.splitlines())) <= 100
    console = Console(width=70, record=True, file=io.StringIO())
    console.print(found)
    shown = console.export_text()
    assert "part/deep" in shown
    assert max(map(len, shown.splitlines())) <= 70
    page = found._repr_html_()
    ElementTree.fromstring(f"<div>{page}</div>")
    assert "part/deep (Dense)" in page
    assert page.count("<table>") == 3


def test_ascii_only_terminals_get_ascii():
    found = profile_of(shared_model())
    raw = io.BytesIO()
    console = Console(width=120, file=io.TextIOWrapper(raw, "ascii", write_through=True))
    console.print(found)
    assert b" us " in raw.getvalue()


@pytest.mark.parametrize(
    ("sort", "key"),
    [
        ("time", lambda row: -row.seconds),
        ("memory", lambda row: -row.n_bytes),
        ("name", lambda row: row.name),
        ("order", lambda row: row.line),
    ],
)
def test_ops_are_sorted_as_is_asked(sort, key):
    found = profile_of(shared_model(), sort=sort)
    keys = [key(row) for row in found.sorted_rows()]
    assert keys == sorted(keys)
    assert len(set(keys)) > 1


def test_it_is_plain_data():
    found = json.loads(json.dumps(profile_of(shared_model()).as_dict()))
    assert found["function"] == "train_function"
    assert found["model"] == "twice"
    assert found["inputs"] == [[5, 3], [5, 1], [5]]
    assert sum(op["seconds"] for op in found["ops"]) == pytest.approx(found["seconds"])
    assert {op["memory"] for op in found["ops"]} >= {"own", "in place"}


# --- pictures -------------------------------------------------------------------------------------


@pytest.mark.parametrize("palette", theme.PALETTES)
@pytest.mark.parametrize("name", theme.HEATS)
def test_text_and_frames_on_every_heat_can_be_read(palette, name):
    palette = theme.PALETTES[palette]
    for color in (palette.text, palette.quiet_text):
        assert contrast(color, palette.heat(name)) >= 4.5
    ramp = [contrast(palette.background, palette.heat(one)) for one in theme.HEATS]
    assert ramp == sorted(ramp)
    assert ramp[-1] > 1.3


def test_a_box_has_the_time_of_its_layer_and_calls_count_alike():
    found = profile_of(shared_model())
    graph = found.draw(expand="all").whole
    row = next(row for row in found.layers if row.layer == "shared")
    shares = [graph.node(f"shared@{i}").attrs["time_share"] for i in range(3)]
    assert shares == [pytest.approx(row.share / 3, abs=1e-4)] * 3
    assert "1/3 of its 3 calls" in graph.node("shared@0").attrs["detail"]
    deep = next(row for row in found.layers if row.layer == "part/deep")
    frame = next(group for group in graph.groups if group.id == "part")
    assert frame.attrs["time_share"] == pytest.approx(deep.share, abs=1e-4)
    assert graph.node("x").attrs["state"] == "heat0"
    assert "outside the boxes" in graph.attrs["caption"]


def test_frames_have_what_lies_in_them_at_any_depth():
    boxes = [GraphNode("a", "a", "dense", "inner"), GraphNode("b", "b", "dense", "outer")]
    groups = GraphGroup("outer", "outer"), GraphGroup("inner", "inner", "outer")
    graph = Graph("two", tuple(boxes), (GraphEdge("a", "b"),), groups)
    times = {"a": Times(forward=2e-6), "b": Times(update=3e-6), "inner": Times(backward=1e-6)}
    marked = with_times(graph, times, 1e-5)
    found = {group.id: group.attrs for group in marked.groups}
    assert (found["outer"]["time_share"], found["inner"]["time_share"]) == (0.6, 0.3)
    assert found["outer"]["detail"] == "6.00 µs · 60 %"
    assert marked.attrs["caption"].startswith("Time of a call: 10.0 µs, 40 % of it outside")


def test_pictures_are_filled_by_time_in_every_format_and_theme():
    found = profile_of(shared_model())
    heats = {str(node.attrs["state"]) for node in found.draw().graph.nodes}
    assert len(heats) > 2
    for name, palette in theme.PALETTES.items():
        drawing = found.draw(f"{name}.svg", theme=name)
        style = Path(f"{name}.svg").read_text(encoding="utf-8").partition("</style>")[0]
        for heat in heats:
            rule = f".is-{heat} .line{{fill:{palette.heat(heat)};"
            assert rule in style
            assert palette.heat(heat) in drawing.source
            assert palette.heat(heat) in drawing.html
    assert f"classDef state_{min(heats)} fill:" in found.draw().mermaid
    assert "µs" in found.draw().text(160)


@pytest.mark.browser
def test_a_browser_shows_the_colours():
    found = profile_of(shared_model())
    hottest = max(found.draw().graph.nodes, key=lambda node: node.attrs["time_share"])
    found.draw("times.html")
    with browser() as running:
        page = OpenPage(running, Path("times.html").resolve()).page
        fill = page.evaluate(
            'id => getComputedStyle(document.querySelector(`.box[data-id="${id}"] .line`)).fill',
            hottest.id,
        )
    wanted = theme.LIGHT.heat(str(hottest.attrs["state"]))
    assert fill == f"rgb({', '.join(str(int(wanted[i : i + 2], 16)) for i in (1, 3, 5))})"


def test_a_large_model_with_frames_that_nobody_made_has_times_on_them():
    x = Input((3,))
    y = x
    for i in range(150):
        y = Dense(3, name=f"even_{i}")(y)
    model = Model(x, Dense(1)(y))
    model.compile("sgd", "mse")
    shown = profile_of(model).draw().graph
    assert len(shown.nodes) < 60
    whole = sum(float(node.attrs["time_share"]) for node in shown.nodes)
    assert 0.8 < whole < 1


# --- the subject ----------------------------------------------------------------------------------


def test_the_function_of_a_model_finds_its_model():
    model = shared_model()
    for _ in range(2):
        model.train_on_batch(np.ones((5, 3)), np.ones((5, 1)))
    found = ks.profile(model.train_function, repeats=1, clock=square_clock(), roofline=MACHINE)
    assert found.model is model
    assert "with made-up numbers" in str(found)
    assert found.draw().graph.name == "twice"


def test_only_so_many_rows_are_used_as_a_batch_has():
    x = np.ones((100, 3))
    options = {"repeats": 1, "clock": square_clock(), "roofline": MACHINE}
    model = shared_model()
    assert ks.profile(model, x, **options).measured.inputs == ((32, 3),)
    assert ks.profile(model, x, batch_size=7, **options).measured.inputs == ((7, 3),)
    assert ks.profile(model, x, batch_size=None, **options).measured.inputs == ((100, 3),)


def test_a_function_of_nobody_is_measured_and_not_drawn():
    x = K.placeholder((2,))
    function = K.function([x], [K.exp(x)], name="mine")
    found = ks.profile(function, [np.ones(2)], repeats=1, clock=square_clock(), roofline=MACHINE)
    assert found.name == "mine"
    with pytest.raises(ArgumentError, match="the model of mine is unknown"):
        found.draw()


def test_what_makes_no_sense_is_refused():
    model = shared_model()
    x, y = np.ones((5, 3)), np.ones((5, 1))
    with pytest.raises(DtypeError, match="expected a model or a function, got int"):
        ks.profile(3)
    with pytest.raises(ArgumentError, match="Did you mean 'memory'"):
        ks.profile(model, x, y, sort="memry")
    with pytest.raises(ArgumentError, match="Did you mean 'train'"):
        ks.profile(model, x, y, of="trian")
    with pytest.raises(ArgumentError, match="has no train function yet. Pass a batch"):
        ks.profile(model)
    with pytest.raises(NotCompiledError, match=r"Call model.compile\(...\) first"):
        ks.profile(Sequential([Dense(1, input_shape=(3,))]), x, y)
    with pytest.raises(ArgumentError, match="y and of are for models"):
        ks.profile(K.function([], [K.variable(1.0)]), [], y)


# --- the command ----------------------------------------------------------------------------------


def test_the_command_profiles_what_the_script_has_called(capsys):
    assert main(["profile", "--repeats", "2", "script.py", "data.csv"]) == 0
    said = capsys.readouterr().out
    assert "words ['data.csv']" in said
    assert "train_function of mine   │     9 │" in said
    assert "(8, 4), (8, 2), (8,), () and 1 more" in said
    assert "train_function of mine: " in said
    assert "predict_function of mine" in said
    assert "encoder/narrow (Dense)" in said
    assert Function._compute.__name__ == "_compute"


def test_json_holds_all_and_nothing_else_is_on_standard_output(capsys):
    assert main(["profile", "script.py", "--json", "--repeats", "2", "--all"]) == 0
    captured = capsys.readouterr()
    assert "words []" in captured.err
    told = json.loads(captured.out)
    assert told["script"] == "script.py"
    functions = {one["function"]: one for one in told["functions"]}
    train = functions["train_function"]
    assert (train["model"], train["calls"]) == ("mine", 9)
    assert [(one["inputs"][0], one["calls"]) for one in train["shapes"]] == [
        ([8, 4], 6),
        ([4, 4], 3),
    ]
    profile = train["profile"]
    for rows in ("phases", "layers", "ops"):
        assert sum(row["seconds"] for row in profile[rows]) == pytest.approx(profile["seconds"])
    assert functions["predict_function"]["profile"]["inputs"] == [[6, 4], []]


def test_the_most_called_function_of_a_model_is_drawn(capsys):
    words = [
        "profile",
        "-o",
        "p.svg",
        "script.py",
        "--repeats",
        "1",
        "--output=p.html",
        "-o",
        "p.txt",
    ]
    assert main(words) == 0
    err = capsys.readouterr().err
    assert all(f"wrote p.{suffix}: " in err for suffix in ("svg", "html", "txt"))
    texts = [text.text for text in ElementTree.parse("p.svg").iter(f"{SVG}text")]
    assert "encoder" in texts
    assert any("%" in (text or "") for text in texts)


def test_options_behind_the_script_are_ours_until_two_dashes(capsys):
    assert main(["profile", "script.py", "a", "--repeats", "1", "--", "--all", "-o"]) == 0
    assert "words ['a', '--all', '-o']" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--jsno", "script.py"], "Did you mean '--json'?"),
        (["script.py", "--jsno"], "Did you mean '--json'? Write the script's own words after --."),
        (["script.py", "--sort", "tim"], "invalid choice: 'tim'"),
        (["script.py", "--repeats", "0"], "expected a number above 0"),
        (["script.py", "-o", "p.jpg"], ".jpg"),
        (["script.py", "-o", "nowhere/p.svg"], "nowhere"),
        (["scrpt.py"], "there is no file 'scrpt.py'"),
        ([], "script.py"),
    ],
)
def test_what_is_misspelt_is_refused_before_anything_runs(words, expected, capsys):
    assert main(["profile", *words]) == 2
    captured = capsys.readouterr()
    assert expected in captured.err
    assert captured.out == ""


def test_a_misspelt_command_finds_it(capsys):
    assert main(["profil", "script.py"]) == 2
    assert "Did you mean 'profile'?" in capsys.readouterr().err


def test_a_script_that_calls_nothing_says_so(capsys):
    Path("script.py").write_text("import keras\nprint('done')\n", encoding="utf-8")
    assert main(["profile", "script.py"]) == 1
    captured = capsys.readouterr()
    assert captured.out == "done\n"
    assert "called no function, so there is nothing to profile. Expected a script" in captured.err


def test_a_script_that_fails_is_profiled_as_far_as_it_came(capsys):
    Path("script.py").write_text(f"{SCRIPT}\n1 / 0\n", encoding="utf-8")
    assert main(["profile", "script.py", "--repeats", "1"]) == 1
    captured = capsys.readouterr()
    assert "ZeroDivisionError" in captured.err
    assert "'script.py' did not run to its end" in captured.err
    assert "train_function of mine: " in captured.out


def test_a_script_that_fails_at_once_has_only_its_traceback(capsys):
    Path("script.py").write_text("1 / 0\n", encoding="utf-8")
    assert main(["profile", "script.py"]) == 1
    captured = capsys.readouterr()
    assert captured.err.rstrip().endswith("ZeroDivisionError: division by zero")
    assert captured.out == ""


def test_a_script_that_is_interrupted_is_profiled_as_far_as_it_came(capsys):
    Path("script.py").write_text(f"{SCRIPT}\nraise KeyboardInterrupt\n", encoding="utf-8")
    assert main(["profile", "script.py", "--repeats", "1"]) == 130
    assert "train_function of mine: " in capsys.readouterr().out


def test_functions_of_no_model_are_profiled_where_there_are_no_others(capsys):
    text = "from keras import backend as K\nx = K.placeholder((2,))\n"
    text += "f = K.function([x], [K.exp(x)], name='mine')\nfor _ in range(3): f([[1.0, 2.0]])\n"
    Path("script.py").write_text(text, encoding="utf-8")
    assert main(["profile", "script.py", "--repeats", "1", "-o", "p.svg"]) == 0
    captured = capsys.readouterr()
    assert "mine: " in captured.out
    assert "p.svg was not written: none of the functions belongs to a model." in captured.err
    assert not Path("p.svg").exists()


def test_what_the_script_computes_is_what_it_computes_alone(capsys):
    text = SCRIPT.replace("    model.predict", "    print(model.get_weights())\n    model.predict")
    text = text.replace("def work", "np.random.seed(1)\ndef work")
    Path("script.py").write_text(text, encoding="utf-8")
    assert main(["run", "script.py"]) == 0
    alone = capsys.readouterr().out
    K.clear_session()
    assert main(["profile", "script.py", "--repeats", "1"]) == 0
    assert capsys.readouterr().out.startswith(alone)
