"""The path of a file of a model stands for the model in it, whichever verb is asked."""

import re

import numpy as np
import pytest

import kerascope as ks
from kerascope.errors import ConfigError, KerascopeError, NotCompiledError, UnavailableError
from kerascope.layers import Dense

X, Y = np.ones((2, 4), "float32"), np.ones((2, 3), "float32")


def summed_up(subject):
    lines = []
    ks.summary(subject, print_fn=lines.append)
    return lines


VERBS = {
    "draw": lambda subject: ks.draw(subject).source,
    "draw(values)": lambda subject: ks.draw(subject, values=X).source,
    "draw(diff)": lambda subject: ks.draw(small("old"), diff=subject).source,
    "to_networkx": lambda subject: sorted(ks.to_networkx(subject).nodes),
    "summary": summed_up,
    "walk": lambda subject: [step.outputs[0].tolist() for step in ks.walk(subject, X)],
    "play": lambda subject: repr(ks.play(subject, X)),
    "show": lambda subject: ks.show(subject, X, layer="d").text(80),
    "profile": lambda subject: [row.layer for row in ks.profile(subject, X, repeats=1).layers],
    "compare": lambda subject: ks.compare(subject, subject, X).lines(),
    "compare(b)": lambda subject: ks.compare(small("own"), subject, X).first is None,
}
WITH_LOSS = {
    "draw(training)": lambda subject: ks.draw(subject, level="training").source,
    "draw(gradient)": lambda subject: ks.draw(subject, level="gradient").source,
    "draw(gradients)": lambda subject: ks.draw(subject, gradients=(X, Y)).source,
    "draw(diff)": lambda subject: ks.draw(subject, level="training", diff=subject).source,
    "play": lambda subject: [lane for lane, _ in ks.play(subject, X, Y).lanes],
    "profile": lambda subject: [
        row.phase for row in ks.profile(subject, X, Y, repeats=1).phases
    ],
}  # fmt: skip


def small(name="small"):
    model = ks.Sequential([Dense(3, input_shape=(4,), name="d"), Dense(3, name="e")], name=name)
    model.set_weights([np.full(w.shape, 0.5, "float32") for w in model.get_weights()])
    model.compile("adam", "mse")
    return model


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("files")
    model = small()
    for name in ("m.keras", "m.h5", "m.hdf5", "M.H5"):
        model.save(folder / name)
    (folder / "m.json").write_text(model.to_json(), encoding="utf-8")
    (folder / "m.yaml").write_text(model.to_json(), encoding="utf-8")
    return folder


@pytest.mark.parametrize("name", ["m.keras", "m.h5", "m.hdf5", "M.H5"])
@pytest.mark.parametrize("verb", VERBS)
def test_each_verb_takes_the_path_as_it_takes_the_model(verb, name, folder):
    given = [folder / name, str(folder / name)]
    found, as_text = (VERBS[verb](path) for path in given)
    assert found == as_text
    if verb != "compare":  # sides are called by their files
        assert found == VERBS[verb](small())


@pytest.mark.parametrize("name", ["m.json", "m.yaml"])
@pytest.mark.parametrize("verb", ["draw", "to_networkx", "summary"])
def test_of_a_text_the_model_has_fresh_weights(verb, name, folder):
    assert VERBS[verb](folder / name) == VERBS[verb](small())
    assert len(list(ks.walk(folder / name, X))) == 3


@pytest.mark.parametrize("name", ["m.keras", "m.h5"])
@pytest.mark.parametrize("verb", WITH_LOSS)
def test_what_needs_a_loss_finds_that_of_the_file(verb, name, folder):
    assert WITH_LOSS[verb](folder / name) == WITH_LOSS[verb](small())


def test_of_a_text_there_is_no_loss(folder):
    with pytest.raises(NotCompiledError, match="has no loss"):
        ks.draw(folder / "m.json", level="training")


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "draw(diff)"])
@pytest.mark.parametrize(
    ("name", "content", "error", "words"),
    [
        ("no.keras", None, UnavailableError, "there is no file '{path}'. Did you mean 'n.keras'?"),
        (
            "no.json",
            None,
            UnavailableError,
            "'{path}': there is no file of this name. Did you mean 'n.json'?",
        ),
        ("bad.keras", b"hello", ConfigError, "'{path}' is not a complete .keras file"),
        (
            "bad.h5",
            b"",
            ConfigError,
            "'{path}' is not a complete HDF5 file or .keras archive. It is",
        ),
        ("bad.json", b"{", ConfigError, "'{path}': its configuration is not valid JSON ("),
        ("bad.json", b"\xff\xfe", ConfigError, "'{path}': expected a text in UTF-8."),
        ("bad.yaml", b"a: 1", ConfigError, "'{path}': expected a dict with 'class_name'"),
    ],
)
def test_each_verb_says_the_same_of_a_file_that_holds_no_model(
    verb, name, content, error, words, tmp_path
):
    path = tmp_path / name
    for beside in ("n.keras", "n.json"):
        (tmp_path / beside).touch()
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(error, match=re.escape(words.format(path=path))):
        VERBS[verb](path)


def test_a_layer_that_is_not_known_is_drawn_and_summed_up_but_not_run(folder):
    text = small().to_json().replace('"Dense"', '"NobodysOwn"')
    path = folder / "own.json"
    path.write_text(text, encoding="utf-8")
    assert "NobodysOwn" in VERBS["draw"](path)
    assert any("NobodysOwn" in line for line in VERBS["summary"](path))
    assert VERBS["to_networkx"](path)
    for verb in ("walk", "play", "compare"):
        with pytest.raises(KerascopeError, match="NobodysOwn.*custom_objects"):
            VERBS[verb](path)


def test_a_loss_that_is_not_known_is_not_needed_to_play_the_forward_pass(folder):
    def far_away(y_true, y_pred):
        return ks.K.mean(ks.K.abs(y_true - y_pred), axis=-1)

    model = small()
    model.compile("sgd", far_away)
    model.save(folder / "loss.h5")
    for verb in ("draw", "walk", "play", "summary", "profile"):
        assert VERBS[verb](folder / "loss.h5")


def test_a_path_of_weights_is_no_model(tmp_path):
    small().save_weights(tmp_path / "w.weights.h5")
    for verb in ("draw", "walk", "compare", "compare(b)"):
        with pytest.raises(KerascopeError, match="Make the model and load them into it"):
            VERBS[verb](tmp_path / "w.weights.h5")


@pytest.mark.live
def test_to_keras_takes_the_path_too(folder):
    pytest.importorskip("keras")
    real = ks.to_keras(folder / "m.keras")
    assert np.allclose(real.predict(X, verbose=0), small().predict(X, verbose=0))


def test_what_is_played_beside_may_be_a_file_too(folder):
    player = ks.play(folder / "m.keras", X, beside=folder / "m.h5")
    assert len(player.sides) == 2
    assert all(side.picture is not None for side in player.sides)
