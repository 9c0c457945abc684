"""Inputs that nobody gave: what is drawn for models and files that say what they read."""

import numpy as np
import pytest

import kerascope as ks
from kerascope.cli.commands import main
from kerascope.comparing.drawn import drawn_inputs
from kerascope.comparing.subjects import prepared
from kerascope.errors import ArgumentError
from kerascope.foreign.records import Declared
from kerascope.layers import Dense, Embedding, concatenate


def arrays_for(*subjects, seed=0):
    found = drawn_inputs([prepared(one) for one in subjects], seed)
    return found if isinstance(found, list) else [found]


def sorts_of(arrays):
    return [(array.shape, array.dtype.name) for array in arrays]


def two_inputs(batch=None):
    words = ks.Input(batch_shape=(batch, 5), dtype="int32", name="words")
    numbers = ks.Input(batch_shape=(batch, None), name="numbers")
    h = ks.layers.Flatten()(Embedding(3, 2, name="table")(words))
    return ks.Model([words, numbers], concatenate([h, numbers]))


def test_of_models_of_kerascope_the_sizes_types_and_words_are_known():
    words, numbers = arrays_for(two_inputs())
    assert sorts_of([words, numbers]) == [((2, 5), "int32"), ((2, 8), "float32")]
    assert set(np.unique(words)) <= {1, 2}
    assert sorts_of(arrays_for(two_inputs(3))) == [((3, 5), "int32"), ((3, 8), "float32")]


def test_the_same_seed_draws_the_same_numbers():
    one, again, other = (arrays_for(two_inputs(), seed=seed)[1] for seed in (1, 1, 2))
    assert (one == again).all()
    assert (one != other).any()


def test_a_size_that_one_side_leaves_open_is_that_of_the_other():
    for sides in ((two_inputs(), two_inputs(4)), (two_inputs(4), two_inputs())):
        assert sorts_of(arrays_for(*sides)) == [((4, 5), "int32"), ((4, 8), "float32")]


@pytest.fixture
def telling(monkeypatch):
    """Return a function that makes a foreign model which says what it reads."""

    def made(*inputs):
        def model(*given):
            return given

        model.told = [Declared(*one) for one in inputs]
        return model

    told = lambda subject: getattr(subject, "told", None)  # noqa: E731
    monkeypatch.setattr("kerascope.comparing.drawn.foreign.declared", told)
    return made


@pytest.mark.parametrize(
    ("inputs", "expected"),
    [
        ([("x", (1, 3), "float32")], [((1, 3), "float32")]),
        ([("x", (), "float64")], [((), "float64")]),
        ([("x", (None, 3, None), "float16")], [((2, 3, 8), "float16")]),
        ([("x", ("N", "T"), "int64"), ("m", ("N", "T"), "bool")],
         [((2, 8), "int64"), ((2, 8), "bool")]),
        ([("x", ("N", 3), "float32"), ("h", (1, "N", 4), "float32")],
         [((2, 3), "float32"), ((1, 2, 4), "float32")]),
        ([("x", (None, 3), "float32"), ("y", (None, 2), "float32")],
         [((2, 3), "float32"), ((2, 2), "float32")]),
    ],
)  # fmt: skip
def test_what_a_file_declares_is_drawn(inputs, expected, telling):
    arrays = arrays_for(telling(*inputs))
    assert sorts_of(arrays) == expected
    for array in arrays:
        assert np.isfinite(array).all()
        if array.dtype.kind in "iub":
            assert set(np.unique(array)) <= {0, 1}


@pytest.mark.parametrize(
    "told",
    [("x", None, "float32"), ("x", (2,), ""), ("x", (2,), "string"), ("x", None, "sequence")],
)
def test_where_a_shape_or_type_is_not_said_nothing_is_drawn(told, telling):
    model = telling(("y", (2, 3), "float32"), told)
    assert drawn_inputs([prepared(model), prepared(model)], 0) is None
    with pytest.raises(ArgumentError, match="does not declare its inputs. Give arrays"):
        ks.compare(model, model)


def test_fixed_sizes_of_the_other_side_are_taken_where_the_axes_are_the_same(telling):
    free = telling(("x", ("N", 3, None, None), "float32"))
    fixed = telling(("x", (1, 3, 16, 12), "float32"))
    last = telling(("x", (1, 16, 12, 3), "float32"))
    assert sorts_of(arrays_for(free, fixed)) == [((1, 3, 16, 12), "float32")]
    assert sorts_of(arrays_for(free, last)) == [((1, 3, 8, 8), "float32")]


def test_an_input_that_was_drawn_and_does_not_fit_is_said_to_be_drawn():
    one, other = (ks.Sequential([Dense(2, input_shape=(size,))]) for size in (3, 4))
    with pytest.raises(ArgumentError, match=r"^compare: b, .* The input was random. Give"):
        ks.compare(one, other)
    with pytest.raises(ArgumentError, match="^compare: b, ") as caught:
        ks.compare(one, other, np.ones((2, 3), "float32"))
    assert "drawn" not in str(caught.value)


# --- files of ONNX --------------------------------------------------------------------------------


@pytest.mark.live
def test_two_onnx_files_are_compared_without_an_input(tmp_path, capsys):
    onnx = pytest.importorskip("onnx")
    from onnx_by_hand import encoder, residual

    for make in (encoder, residual):
        path = str(tmp_path / f"{make.__name__}.onnx")
        onnx.save(make(), path)
        found = ks.compare(path, path)
        assert found.equal
        assert found.notes == ("no input was given: random numbers were drawn, seed 0",)
        assert main(["compare", path, path, "--seed", "3"]) == 0
        assert "random numbers were drawn, seed 3" in capsys.readouterr().out


@pytest.mark.live
def test_an_onnx_file_of_one_sample_is_compared_with_a_model_of_any_number(tmp_path):
    onnx = pytest.importorskip("onnx")
    from onnx_by_hand import array, model, node, value

    own = ks.Sequential([Dense(2, input_shape=(3,), name="d")])
    kernel, bias = own.get_weights()
    arrays = [array("kernel", kernel), array("bias", bias)]
    nodes = [node("Gemm", "x kernel bias", "y")]
    path = tmp_path / "one.onnx"
    onnx.save(model(nodes, "one", [value("x", [1, 3])], [value("y", [1, 2])], arrays), str(path))
    own.save(tmp_path / "own.keras")
    assert ks.compare(tmp_path / "own.keras", path).equal
    assert ks.compare(path, own).equal


@pytest.mark.live
def test_an_onnx_file_whose_input_is_a_text_asks_for_it(tmp_path, capsys):
    onnx = pytest.importorskip("onnx")
    from onnx_by_hand import model, node, value

    text = value("x", [2], onnx.TensorProto.STRING)
    path = str(tmp_path / "text.onnx")
    told = value("y", [2], onnx.TensorProto.STRING)
    onnx.save(model([node("Identity", "x", "y")], "text", [text], [told]), path)
    assert main(["compare", path, path]) == 2
    assert "'text.onnx' does not declare its inputs. Give arrays" in capsys.readouterr().err
    assert main(["play", path, "-o", str(tmp_path / "p.html")]) == 2
    assert "does not define its inputs. Give arrays with --input" in capsys.readouterr().err
