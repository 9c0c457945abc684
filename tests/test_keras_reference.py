"""The stored answers of the real Keras, and the recorder that asks for them."""

import ast
import json
import math
import runpy
import sys
import types
import zipfile

import h5py
import keras_reference as reference
import numpy as np
import pytest
from keras_answers import FOLDER, Answered, Kept, Thing, Written, path_for
from keras_questions import Writer, meaning, same_numbers, source_checksum
from keras_reference import Asked, Live, Named, Stored, answer

from kerascope import backend as K
from kerascope.compat import keras_imports
from kerascope.layers import Conv2D, Dense
from kerascope.models import Model, Sequential

MOST_BYTES = 3_000_000
FILES = sorted(FOLDER.glob("*.zip"))


# --- what is stored -------------------------------------------------------------------------------


def test_all_answers_together_are_small():
    assert len(FILES) > 15
    assert sum(path.stat().st_size for path in FILES) <= MOST_BYTES


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_answers_tell_who_answered_and_hold_only_data(path):
    versions = Kept(path).versions
    assert versions.keys() == {"keras", "jax", "numpy", "python"}
    assert all(version[0].isdigit() for version in versions.values())
    with zipfile.ZipFile(path) as archive:
        members = set(archive.namelist())
    assert all(name.endswith(".bin") for name in members - {"versions.json", "log.json"})


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_no_stored_answer_has_lost_its_test(path, request):
    *folders, stem = path.stem.split(".")
    test_file = "/".join([*folders, f"{stem}.py"])
    stored = set(Kept(path).log)
    source = ast.parse((reference.TESTS / test_file).read_text("utf-8"))
    functions = {node.name for node in source.body if isinstance(node, ast.FunctionDef)}
    assert {test.partition("[")[0] for test in stored} <= functions
    collected = request.config.stash.get(reference.COLLECTED, {}).get(test_file)
    if collected is not None:  # the file belongs to what runs now: all its tests are known
        assert stored <= collected


def test_every_stored_answer_can_be_read():
    kept = Kept(FILES[0])
    for test, rows in kept.log.items():
        assert len(kept.entries(test)) == len(rows) > 0


# --- a small library in the place of Keras --------------------------------------------------------


class Counter:
    """What the library makes: it has a state, numbers and a file."""

    def __init__(self, start=0):
        self.count = start
        self.parts = [np.float32(1), "text", self]

    def add(self, x):
        self.count += 1
        return {"sum": np.asarray(x).sum(), "at": (self.count, None)}

    def apply(self, function, x):
        return function(x)

    def save(self, path):
        path.write_text(f"counted to {self.count}", "utf-8")

    def fail(self):
        raise ValueError("no such thing")

    def __array__(self, dtype=None, copy=None):
        return np.full(3, self.count, "float32")

    def __mul__(self, other):
        return Counter(self.count * other)

    def __len__(self):
        return self.count


@pytest.fixture
def library(monkeypatch):
    module = types.ModuleType("a_small_library")
    module.Counter = Counter
    module.VALUES = {"a": 1}
    monkeypatch.setitem(sys.modules, "a_small_library", module)
    return Named("a_small_library")


def told_by(library, tmp_path, numbers=(1.0, 2.0), factor=2):
    """Do with the library all that the recorder knows, and return what came."""
    counter = library.Counter(start=2)
    told = [counter.add(np.array(numbers)), counter.count, len(counter), np.asarray(counter)]
    told += [np.asarray(counter * factor), counter.parts[:2], isinstance(counter, library.Counter)]
    told.append(counter.apply(lambda x: x * factor, 4))
    told.append(hasattr(counter, "nothing"))
    told.append(answer(whole, library.Counter, 7))
    counter.parts[2].save(tmp_path / "counted.txt")
    told.append((tmp_path / "counted.txt").read_text("utf-8"))
    with pytest.raises(ValueError, match="no such thing"):
        counter.fail()
    return told


def whole(counter, start):
    class More(counter):
        def more(self):
            return self.count + 1

    return More(start).more()


def through(monkeypatch, asking, function, *args, **kwargs):
    monkeypatch.setattr(reference, "_asking", asking)
    return function(*args, **kwargs)


@pytest.fixture
def recorded(monkeypatch, library, tmp_path):
    live = Live()
    told = through(monkeypatch, live, told_by, library, tmp_path)
    written = Written()
    written.add("test", live.entries)
    written.write(tmp_path / "answers.zip", reference.versions_of("numpy"))
    (tmp_path / "counted.txt").unlink()
    return told, Kept(tmp_path / "answers.zip").entries("test")


def test_what_was_recorded_is_replayed_without_the_library(
    monkeypatch, library, recorded, tmp_path
):
    told, entries = recorded
    monkeypatch.delitem(sys.modules, "a_small_library")
    stored = Stored(entries)
    again = through(monkeypatch, stored, told_by, library, tmp_path)
    assert repr(again) == repr(told)
    assert told[1:3] == [3, 3]
    assert told[-1] == "counted to 3"
    stored.check_that_all_was_asked()


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"numbers": (1.0, 2.001)}, "other numbers"),
        ({"numbers": (1.0, 2.0, 0.0)}, r"asked:  call #2, float64\[3\]"),
        ({"factor": 3}, r"asked:  mul #1, 3"),
    ],
)
def test_another_question_is_refused(monkeypatch, library, recorded, tmp_path, changed, words):
    with pytest.raises(pytest.fail.Exception, match=f"to another question(.|\n)*{words}"):
        through(monkeypatch, Stored(recorded[1]), told_by, library, tmp_path, **changed)


def test_rounding_makes_no_other_question_so_nothing_is_raised(
    monkeypatch, library, recorded, tmp_path
):
    numbers, told = (1.0 + 1e-7, 2.0), recorded[0]
    again = through(monkeypatch, Stored(recorded[1]), told_by, library, tmp_path, numbers=numbers)
    assert repr(again) == repr(told)


def test_one_question_more_or_less_is_refused(monkeypatch, library, recorded, tmp_path):
    stored = Stored(recorded[1][:-1])
    with pytest.raises(pytest.fail.Exception, match="stored: nothing more"):
        through(monkeypatch, stored, told_by, library, tmp_path)
    stored = Stored(recorded[1])
    through(monkeypatch, stored, library.Counter, start=2)
    with pytest.raises(pytest.fail.Exception, match="not asked any more: getattr #1, 'add'"):
        stored.check_that_all_was_asked()


def test_answers_are_of_a_keras_if_it_and_its_jax_have_the_same_versions():
    kept = Kept(FILES[0])
    assert kept.is_of({**kept.versions, "numpy": "0.1", "python": "3.0"})
    for name in ("keras", "jax"):
        assert not kept.is_of({**kept.versions, name: "0.1"})
    assert not Kept(FOLDER / "of_nobody.zip").is_of(kept.versions)


class Terminal:
    """What pytest has when it writes its summary."""

    def __init__(self, stats):
        self.stats = stats
        self.lines = []

    def write_line(self, line, **colour):
        self.lines.append(line)


def test_the_summary_says_how_many_answers_were_not_compared():
    def report(when, *properties):
        return types.SimpleNamespace(when=when, user_properties=list(properties))

    told = reference.NOT_COMPARED, "stored is 1, live is 2"
    passed = [report("setup"), report("teardown", told), report("teardown")]
    failed = [report("call", told), report("teardown", told), types.SimpleNamespace()]
    terminal = Terminal({"": passed, "failed": failed})
    reference.pytest_terminal_summary(terminal)
    assert terminal.lines == ["stored is 1, live is 2: 2 tests not compared with them"]
    quiet = Terminal({"": [report("teardown")], "warnings": [object()]})
    reference.pytest_terminal_summary(quiet)
    assert quiet.lines == []


def test_a_live_answer_that_differs_from_the_stored_is_named(recorded):
    entries = recorded[1]
    assert reference.differences(entries, entries) == []
    other = [Answered(e.question, e.numbers, e.answer, e.raised, e.files) for e in entries]
    other[2].answer = {"sum": 3.01, "at": (3, None)}
    (told,) = reference.differences(entries, other)
    assert told.startswith("call #2, float64[2] has another answer")
    assert len(reference.differences(entries, entries[:-1])) == 1


def test_outside_of_a_test_that_asks_nothing_is_answered(monkeypatch, library):
    monkeypatch.setattr(reference, "_asking", None)
    assert library.anything is library.anything
    with pytest.raises(RuntimeError, match='does not use the fixture "answers"'):
        library.Counter()
    with pytest.raises(TypeError, match="make it inside of answer"):

        class Sub(library.Counter):
            """Would have methods that are not recorded."""


def test_generators_begin_anew_in_each_test():
    made = reference.generator(3)
    draws = []
    for test in ("one", "two", "one"):
        reference._generators.begin(test)
        draws.append(made.normal(size=4).tolist())
    assert draws[0] == draws[2] != draws[1]


# --- questions ------------------------------------------------------------------------------------


def question(*values):
    writer = Writer(reference._reference)
    return [writer.arguments(values, {}), writer.numbers]


def with_one(odd, moved=0.0):
    array = np.ones((4, 4), "float32")
    array[0, 1] = odd
    array[2, 2] += moved
    return array


@pytest.mark.parametrize(
    "values",
    [
        (1, 1.0),
        (True, 1),
        ("1", 1),
        ((1,), [1]),
        ((1,), 1),
        ({"a": 1}, {"a": 2}),
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        (slice(1), slice(2)),
        (..., None),
        (math.nan, math.inf),
        (np.float32(1), np.float64(1)),
        (np.arange(3), np.arange(3)[::-1]),
        (np.array(["a"]), np.array(["b"])),
        (np.zeros((2, 3)), np.zeros((3, 2))),
        (len, abs),
        (int, float),
        (lambda x: x + 1, lambda x: x + 2),
        (b"a", "a"),
        ({1, 2}, {1, 3}),
        (np.array([math.inf, 1.0]), np.array([-math.inf, 1.0])),
        (np.array([math.nan, 0.0]), np.array([0.0, math.nan])),
        (np.array([math.nan]), np.array([1e3])),
        *((with_one(odd), with_one(odd, 0.02)) for odd in (math.inf, -math.inf, math.nan, -1e9)),
        (with_one(1e9), with_one(2e9)),
        (with_one(1e9), with_one(-1e9)),
    ],
)
def test_different_values_are_different_questions(values):
    (one, numbers), (other, others) = map(question, values)
    assert one != other or not same_numbers(numbers, others)
    again, same = question(values[0])
    assert again == one
    assert same_numbers(numbers, same)


def test_an_entry_that_moves_by_a_ten_thousandth_of_the_norm_is_noticed_at_every_place():
    array = np.random.default_rng(0).normal(size=3000)
    numbers = question(array)[1]
    for place in range(array.size):
        moved = array.copy()
        moved[place] += 1e-4 * np.linalg.norm(array)
        assert not same_numbers(numbers, question(moved)[1])


def test_one_weight_among_thousands_makes_another_question():
    array = np.random.default_rng(0).normal(size=(64, 64)).astype("float32")
    moved = array.copy()
    moved[40, 3] += 0.05
    assert not same_numbers(question(array)[1], question(moved)[1])
    assert not same_numbers(question(array)[1], question(array[::-1])[1])
    noise = 1 + 1e-6 * np.random.default_rng(1).normal(size=array.shape)
    assert same_numbers(question(array)[1], question(array * noise)[1])
    assert not same_numbers(question(array)[1], [])


def test_a_function_is_its_words_and_what_it_closes_over():
    def made(factor):
        def function(x):
            return x * factor  # how it is laid out does not matter

        return function

    assert question(made(2)) == question(made(2))
    assert question(made(2))[0] != question(made(3))[0]
    assert source_checksum(made(2).__code__) != source_checksum(made.__code__)


def test_lambdas_of_one_line_are_told_apart():
    makers = [lambda x: x - 5000, lambda x: 5000 - x, lambda x: lambda y: y, lambda x: lambda y: x]
    functions = [*makers, makers[2](0)]
    assert len({source_checksum(function.__code__) for function in functions}) == 5


def test_a_program_means_the_same_in_every_version_of_python():
    (function,) = ast.parse(
        "def f(x, *, y=None) -> 'int':\n  return f'{x!r:>{y}}', x[1:], -1.5"
    ).body
    assert meaning(function) == (
        "FunctionDef(name='f', args=arguments(args=[arg(arg='x')], kwonlyargs=[arg(arg='y')], "
        "kw_defaults=[Constant()]), body=[Return(value=Tuple(elts=[JoinedStr(["
        "FormattedValue(value=Name(id='x'), conversion=114, format_spec=JoinedStr(["
        "Constant(value='>'), FormattedValue(value=Name(id='y'), conversion=-1)]))]), "
        "Subscript(value=Name(id='x'), slice=Slice(lower=Constant(value=1))), "
        "UnaryOp(op=USub(), operand=Constant(value=1.5))]))], returns=Constant(value='int'))"
    )


def test_what_cannot_be_written_down_is_refused():
    with pytest.raises(TypeError, match="has a object: write that down how"):
        question(object())


def test_a_file_of_ours_is_known_by_its_content(tmp_path):
    def saved(name, **options):
        K.clear_session()
        model = Sequential([Dense(2, input_shape=(3,), **options)])
        model.set_weights([np.arange(6).reshape(3, 2), [1, 2]])
        return model

    first, path = saved("first"), tmp_path / "model.keras"
    questions = []
    for model in (first, saved("again"), saved("other", activation="tanh")):
        model.save(path)
        questions.append(question(path))
    assert questions[0] == questions[1]
    assert questions[0][0] != questions[2][0]
    first.set_weights([np.arange(6).reshape(3, 2) + 0.01, [1, 2]])
    first.save(path)
    text, numbers = question(path)
    assert text == questions[0][0]
    assert not same_numbers(numbers, questions[0][1])


def test_the_content_of_an_hdf5_file_is_its_attributes_and_entries(tmp_path):
    path, told = tmp_path / "some.h5", []
    for attribute, entry in [("a", 1.0), ("b", 1.0), ("a", 2.0), ("a", 1.0)]:
        with h5py.File(path, "w") as file:
            file.attrs["config"] = json.dumps({"name": attribute, "date_saved": len(told)})
            file.create_group("group")["weights"] = np.array([entry])
        told.append(question(path))
    assert told[0] == told[3]
    assert told[0][0] != told[1][0]
    assert told[0][0] == told[2][0]
    assert told[0][1] != told[2][1]


def test_of_many_texts_in_an_hdf5_file_each_one_counts(tmp_path):
    path, told = tmp_path / "some.h5", []
    for middle in ("a", "b", "a"):
        with h5py.File(path, "w") as file:
            file["words"] = ["a"] * 2000 + [middle] + ["a"] * 2000
            file["word"] = middle
        told.append(question(path))
    assert told[0] == told[2] != told[1]


def test_a_thing_tells_what_it_is():
    assert repr(Asked(3, None, "Dense")) == "#3 Dense"
    assert repr(Named("keras.layers")) == "keras.layers"
    assert Thing("Dense").type_name == "Dense"
    assert path_for("layers/test_x.py").name == "layers.test_x.zip"


# --- the proof that stored answers prove something ------------------------------------------------


def replayed(test_file, test, function, *args):
    """Run what a test runs, with the answers that are stored for it; return what it asks."""
    own = runpy.run_path(str(reference.TESTS / test_file))
    stored = Stored(reference.kept_for(test_file).entries(test))
    reference._begin(test, is_live=False)
    reference._asking = stored
    try:
        own[function](*args)
        stored.check_that_all_was_asked()
    finally:
        reference._asking = None


def convolution(**arguments):
    test_file = "layers/test_convolutional_keras3.py"
    options = {"kernel_size": 3, "activation": "relu", **arguments}
    replayed(test_file, "test_conv2d_agrees[arguments0]", "test_conv2d_agrees", options)


def test_a_layer_that_gives_a_constant_does_not_agree_with_stored_answers(monkeypatch):
    convolution()
    call = Conv2D.call
    monkeypatch.setattr(Conv2D, "call", lambda self, x: 0 * call(self, x) + 0.5)
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        convolution()


def test_a_layer_whose_gradient_is_wrong_does_not_agree_with_stored_answers(monkeypatch):
    call = Conv2D.call
    monkeypatch.setattr(Conv2D, "call", lambda self, x: call(self, 2 * x - K.stop_gradient(x)))
    with pytest.raises(AssertionError, match="Not equal to tolerance"):
        convolution()


def test_other_weights_and_other_arguments_are_other_questions(monkeypatch):
    with pytest.raises(pytest.fail.Exception, match="to another question"):
        convolution(strides=2)
    monkeypatch.setattr(reference._Generators, "begin", lambda self, test: None)
    with pytest.raises(pytest.fail.Exception, match=r"have other numbers"):
        convolution()


def test_a_file_of_ours_with_other_weights_is_another_question(monkeypatch, tmp_path):
    graph = [(0, 0), (1, 0), (0, 1)]
    test = "test_weights_find_their_layers_in_a_graph"
    asked = "saving/test_keras3_files.py", f"{test}[graph1]", test, graph, tmp_path
    replayed(*asked)
    save = Model.save

    def spoiled(model, path):
        model.set_weights([w * np.float32(1.001) for w in model.get_weights()])
        save(model, path)

    monkeypatch.setattr(Model, "save", spoiled)
    with pytest.raises(pytest.fail.Exception, match=r"ours.keras(.|\n)*have other numbers"):
        replayed(*asked)


def test_kerascope_is_not_asked_in_the_place_of_the_real_keras():
    with keras_imports(), pytest.raises(RuntimeError, match=r"keras\.ops: asked inside of keras_"):
        reference.real(Named("keras.ops"))


def test_printed_floats_may_be_rounded_otherwise_and_nothing_else():
    printed = "loss 0.123456 [1.5  -2.25e-07] 3 epochs"
    assert reference._alike(printed, "loss 0.123457 [1.5 -2.25e-07] 3 epochs")
    for other in ("loss 0.13 [1.5 -2.25e-07] 3 epochs", printed.replace("3", "4"), "loss 0.123456"):
        assert not reference._alike(printed, other)


def test_printed_dicts_are_alike_up_to_roundings_though_they_are_no_json():
    one, other = "{'loss': 0.3333333432674408}", "{'loss': 0.3333333134651184}"
    assert reference._alike(one, other)
    assert not reference._alike(one, "{'loss': 0.4}")
    assert reference._alike('{"a": [1], "b": 2}', '{"b": 2, "a": [1]}')
