"""`plot_model` and `model_to_dot`: Keras's doors to our pictures."""

import pytest

from kerascope import Input, Model, draw
from kerascope.errors import ArgumentError
from kerascope.layers import Dense
from kerascope.utils import model_to_dot, plot_model, vis_utils


@pytest.fixture
def model():
    x = Input((4,), name="x")
    return Model(x, Dense(3, activation="relu", name="scores")(x), name="small")


@pytest.mark.parametrize(
    ("name", "start"), [("m.png", b"\x89PNG"), ("m.svg", b"<svg"), ("m.dot", b"digraph")]
)
def test_plot_model_writes_the_format_of_the_files_name(name, start, model, tmp_path):
    drawing = plot_model(model, to_file=str(tmp_path / name))
    assert (tmp_path / name).read_bytes().startswith(start)
    assert type(drawing) is type(draw(model))


def test_plot_model_writes_model_png_if_nothing_is_said(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    plot_model(model)
    assert (tmp_path / "model.png").exists()


def test_shapes_and_names_are_shown_if_they_are_asked_for(model):
    assert "(None, 3)" not in model_to_dot(model).to_string()
    assert "(None, 3)" in model_to_dot(model, show_shapes=True).to_string()
    assert "scores" in model_to_dot(model).to_string()
    assert "rankdir=LR" in model_to_dot(model, rankdir="LR").to_string().replace('"', "")


def test_keras_3s_further_arguments_say_more(model):
    model.get_layer("scores").trainable = False
    source = model_to_dot(model).to_string()
    assert not any(word in source for word in ("frozen", "float32", "relu"))
    options = {"show_trainable": True, "show_dtype": True, "show_layer_activations": True}
    source = model_to_dot(model, **options).to_string()
    assert all(word in source for word in ("frozen", "float32", "relu"))


def test_our_own_arguments_go_through_and_misspelt_ones_do_not(model, tmp_path):
    drawing = plot_model(model, to_file=tmp_path / "m.svg", level="layer")
    assert drawing.graph.attrs["level"] == "layer"
    with pytest.raises(ArgumentError, match="Did you mean 'show_shapes'"):
        plot_model(model, to_file=tmp_path / "m.svg", show_shape=True)


def test_a_dot_has_the_methods_that_scripts_call(model, tmp_path):
    dot = model_to_dot(model)
    assert dot.create(prog="dot", format="svg").startswith(b"<svg")
    assert dot._repr_svg_().startswith("<svg")
    assert dot.write_png(tmp_path / "a.png")
    assert (tmp_path / "a.png").read_bytes().startswith(b"\x89PNG")
    dot.write_svg(tmp_path / "a.svg")
    dot.write_pdf(tmp_path / "a.pdf")
    dot.write(tmp_path / "a.dot")
    assert (tmp_path / "a.pdf").read_bytes().startswith(b"%PDF")
    assert (tmp_path / "a.dot").read_text(encoding="utf-8") == dot.to_string()


def test_keras_1s_name():
    assert vis_utils.plot is plot_model


def test_a_file_of_unknown_format_is_refused(model, tmp_path):
    with pytest.raises(ArgumentError, match="cannot tell the format"):
        plot_model(model, to_file=tmp_path / "m.docx")
