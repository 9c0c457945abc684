"""Files that are damaged or made to do harm: they load, or one of our errors says what is wrong."""

from __future__ import annotations

import io
import json
import subprocess
import sys
import warnings
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest
from effort import calls_of
from holding import holds_for
from hypothesis import strategies as st

from kerascope.errors import ConfigError, DataError, KerascopeError, UnavailableError
from kerascope.layers import LSTM, Dense, Dropout, Embedding, Input, Layer, add
from kerascope.models import Model, Sequential, load_model

MOST_CALLS = 500_000  # for one file; a whole one takes some 50 000
MOST_MEMORY = 500 * 2**20


def small_model() -> Model:
    x = Input((6,))
    shared = Dense(6, activation="tanh", name="shared")
    model = Model(x, Dense(1)(Dropout(0.3)(add([shared(x), shared(shared(x))]))))
    model.compile("adam", "mse", metrics=["mae"])
    model.fit(np.ones((4, 6)), np.ones((4, 1)), verbose=0)
    return model


@pytest.fixture(scope="module")
def whole_files(tmp_path_factory) -> dict[str, bytes]:
    folder = tmp_path_factory.mktemp("whole")
    words = Sequential([Embedding(9, 3, input_length=4), LSTM(2), Dense(1)])
    small_model().save(folder / "a.keras")
    small_model().save(folder / "a.h5")
    words.save(folder / "b.keras")
    words.save(folder / "b.h5")
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def reading(path: Path) -> KerascopeError | None:
    """Load a file; return our error. Any other exception goes through and fails the test."""
    before = sorted(path.parent.iterdir())
    caught = []

    def read() -> None:
        try:
            load_model(path)
        except KerascopeError as error:
            caught.append(error)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a state or a metric that does not fit
        assert calls_of(read) < MOST_CALLS
    assert sorted(path.parent.iterdir()) == before
    return caught[0] if caught else None


def members_of(content: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def archive_of(members: dict[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", compression) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    return content.getvalue()


# --- random damage --------------------------------------------------------------------------------


def flipped(draw, content: bytes) -> bytes:
    changed = bytearray(content)
    for _ in range(draw(st.integers(1, 8))):
        changed[draw(st.integers(0, len(changed) - 1))] ^= draw(st.integers(1, 255))
    return bytes(changed)


def cut(draw, content: bytes) -> bytes:
    start = draw(st.integers(0, len(content) - 1))
    end = draw(st.integers(start, len(content)))
    return content[:start] + content[end:] if draw(st.booleans()) else content[:start]


ODD = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 10**12),
    st.floats(),
    st.text(max_size=5),
    st.lists(st.integers(-1, 10**9), max_size=3),
    st.dictionaries(st.sampled_from(["class_name", "config", "module"]), st.text(max_size=3)),
)


def changed_json(draw, value):
    """Replace one value somewhere inside."""
    if isinstance(value, (dict, list)) and value and draw(st.integers(0, 12)):
        keys = list(value) if isinstance(value, dict) else range(len(value))
        key = draw(st.sampled_from(list(keys)))
        copy = value.copy()
        if not draw(st.integers(0, 15)):
            copy.pop(key)
        else:
            copy[key] = changed_json(draw, value[key])
        return copy
    return draw(ODD)


def damaged(draw, kind: str, name: str, content: bytes) -> bytes:
    if kind == "cut":
        return cut(draw, content)
    if kind == "flip" or name.endswith(".h5"):
        return flipped(draw, content)
    members = members_of(content)
    if kind == "json":
        config = changed_json(draw, json.loads(members["config.json"]))
        members["config.json"] = json.dumps(config).encode()
    elif kind == "weights":
        members["model.weights.h5"] = flipped(draw, members["model.weights.h5"])
    elif kind == "member":
        members.pop(draw(st.sampled_from(sorted(members))))
    else:
        one, other = draw(st.permutations(sorted(members)))[:2]
        members[one], members[other] = members[other], members[one]
    return archive_of(members)


@holds_for(data=st.data(), few=60, many=300)
def test_a_damaged_file_loads_or_says_what_is_wrong(data, whole_files, tmp_path_factory):
    name = data.draw(st.sampled_from(sorted(whole_files)))
    kind = data.draw(st.sampled_from(["flip", "cut", "json", "json", "member", "weights", "swap"]))
    path = tmp_path_factory.mktemp("damaged") / name
    path.write_bytes(damaged(data.draw, kind, name, whole_files[name]))
    error = reading(path)
    assert error is None or path.name in str(error)


# --- traps ----------------------------------------------------------------------------------------


def zip_with(name: str, *, link: bool = False, content: bytes = b"x") -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        entry = zipfile.ZipInfo(name)
        if link:
            entry.external_attr = 0o120777 << 16
        archive.writestr(entry, content)
    return packed.getvalue()


def bomb() -> bytes:
    return archive_of({"config.json": b" " * 50_000_000}, zipfile.ZIP_DEFLATED)


def lying_size(members: dict[str, bytes]) -> bytes:
    """Return an archive whose list says that config.json has fewer bytes than it has."""
    content = bytearray(archive_of(members))
    size = len(members["config.json"]).to_bytes(4, "little")
    place = content.rfind(size, 0, content.rfind(b"config.json"))
    content[place : place + 4] = (7).to_bytes(4, "little")
    return bytes(content)


def with_config(members: dict[str, bytes], **changes) -> bytes:
    config = json.loads(members["config.json"])
    config["config"]["layers"][1]["config"].update(changes)
    return archive_of({**members, "config.json": json.dumps(config).encode()})


def twice(members: dict[str, bytes]) -> bytes:
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        for name in members:
            archive.writestr(name, members[name])
        with pytest.warns(UserWarning, match="Duplicate"):
            archive.writestr("config.json", members["config.json"])
    return content.getvalue()


TRAPS = {
    "two members": (twice, "two members called 'config.json'"),
    "out of the folder": (lambda m: zip_with("../../outside.json"), "leads out of the archive"),
    "absolute": (lambda m: zip_with("/etc/passwd"), "leads out of the archive"),
    "drive": (lambda m: zip_with("C:\\x.json"), "leads out of the archive"),
    "link": (lambda m: zip_with("config.json", link=True), "is a link to another file"),
    "bomb": (lambda m: bomb(), "would expand from [0-9]+ to 50000000 bytes"),
    "lying": (lying_size, "a whole .keras file|shorter than declared|longer than declared"),
    "no weights": (
        lambda m: archive_of({"config.json": m["config.json"]}),
        "expected a member 'model.weights.h5'",
    ),
    "no config": (lambda m: archive_of({"x": b""}), "expected a member 'config.json', got: x"),
    "no JSON": (lambda m: archive_of({**m, "config.json": b"{"}), "is not valid JSON"),
    "nested": (
        lambda m: archive_of({**m, "config.json": b"[" * 5000 + b"]" * 5000}),
        "not valid JSON|too deeply",
    ),
    "no HDF5": (
        lambda m: archive_of({**m, "model.weights.h5": b"x"}),
        "expected a whole HDF5 file",
    ),
    "huge layer": (lambda m: with_config(m, units=10**9), "weights are only 49 numbers"),
    "wrong shape": (lambda m: with_config(m, units=5), "with size 6 on axis -1"),
    "of the future": (
        lambda m: archive_of({**m, "metadata.json": b'{"keras_version": "4.0.1"}'}),
        "expected a file of Keras 3 or older, got Keras 4.0.1",
    ),
}


@pytest.mark.parametrize("trap", TRAPS)
def test_an_archive_that_is_a_trap_is_refused(trap, whole_files, tmp_path):
    make, words = TRAPS[trap]
    path = tmp_path / "trap.keras"
    path.write_bytes(make(members_of(whole_files["a.keras"])))
    error = reading(path)
    assert error is not None
    assert "trap.keras" in str(error)
    with pytest.raises(type(error), match=words):
        raise error


def outside_link(file, folder):
    file["layers/more"] = h5py.ExternalLink(str(folder / "other.h5"), "/")


def soft_link(file, folder):
    file["layers/more"] = h5py.SoftLink("/layers")


def virtual(file, folder):
    layout = h5py.VirtualLayout(shape=(4,), dtype="f4")
    layout[:] = h5py.VirtualSource(str(folder / "other.h5"), "x", shape=(4,))
    file.create_virtual_dataset("layers/more", layout)


def stored_outside(file, folder):
    (folder / "raw").write_bytes(b"\0" * 16)
    outside = [(str(folder / "raw"), 0, 16)]
    file.create_dataset("layers/more", (4,), "f4", external=outside)


def huge(file, folder):
    file.create_dataset("layers/more", (10**12,), "f4", chunks=(1000,))


def reference(file, folder):
    file.create_dataset("layers/more", data=file["layers"].ref, dtype=h5py.ref_dtype)


def text(file, folder):
    file.create_dataset("layers/more", data="words")


def wrong_kind(file, folder):
    del file["layers/dense/vars/0"]
    file["layers/dense/vars/0"] = np.array([b"a"])


def wrong_shape(file, folder):
    del file["layers/dense/vars/0"]
    file["layers/dense/vars/0"] = np.zeros((6, 7), "f4")


def missing(file, folder):
    del file["layers/dense/vars/1"]


def circle(file, folder):
    file["layers/more"] = file["layers"]


@pytest.mark.parametrize(
    ("trap", "words"),
    [
        (outside_link, "got a link to another place or file"),
        (soft_link, "got a link to another place or file"),
        (virtual, "has its numbers in another file"),
        (stored_outside, "has its numbers in another file"),
        (huge, "declares 4000000000000 bytes, but 0 are stored"),
        (reference, "expected numbers"),
        (text, "expected numbers"),
        (wrong_kind, "expected numbers"),
        (wrong_shape, r"expected shape \(6, 6\), got \(6, 7\)"),
        (missing, "expected 2 weights of .*, got 1"),
        (circle, "objects in 100 nested groups, got more"),
    ],
)
def test_weights_that_are_a_trap_are_refused(trap, words, whole_files, tmp_path):
    members = members_of(whole_files["a.keras"])
    content = io.BytesIO(members["model.weights.h5"])
    with h5py.File(content, "a") as file:
        trap(file, tmp_path)
    path = tmp_path / "trap.keras"
    path.write_bytes(archive_of({**members, "model.weights.h5": content.getvalue()}))
    error = reading(path)
    assert isinstance(error, (ConfigError, DataError))
    with pytest.raises(type(error), match=words):
        raise error


def test_a_text_that_claims_gigabytes_costs_nothing(whole_files, tmp_path):
    content = bytearray(whole_files["a.h5"])
    length = len("2.2.4").to_bytes(4, "little")
    place = content.find(length, content.find(b"keras_version\0"))
    content[place : place + 4] = (3 * 10**9).to_bytes(4, "little")
    path = tmp_path / "long.h5"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="declares 3000000000 bytes, more than the whole"):
        load_model(path)


def test_a_heap_without_an_end_is_noticed(whole_files, tmp_path):
    content = bytearray(whole_files["a.h5"])
    heap = content.find(b"GCOL")
    content[heap + 16 + 8 : heap + 16 + 16] = (2**63).to_bytes(8, "little")  # size of a first text
    path = tmp_path / "endless.h5"
    path.write_bytes(content)
    with pytest.raises(ConfigError, match="is not a complete HDF5 file: '.*' is damaged"):
        load_model(path)


CHILD = """
import sys
from pathlib import Path
def most_memory():
    # What getrusage says on Linux begins with the size of the process that started this one.
    status = Path("/proc/self/status")
    if not status.is_file():
        import resource
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
    return int(line.split()[1]) * 1024
from kerascope.errors import KerascopeError
from kerascope.models import load_model
refused = 0
for path in sorted(Path(sys.argv[1]).iterdir()):
    try:
        load_model(path)
    except KerascopeError:
        refused += 1
print(refused, most_memory())
"""


def test_two_hundred_damaged_files_take_little_memory(whole_files, tmp_path):
    rng = np.random.default_rng(0)
    for number in range(200):
        name = sorted(whole_files)[number % 4]
        content = bytearray(whole_files[name])
        for _ in range(4):
            content[rng.integers(len(content))] = rng.integers(256)
        (tmp_path / f"{number}{name[1:]}").write_bytes(content)
    for number, trap in enumerate(TRAPS.values()):
        content = trap[0](members_of(whole_files["a.keras"]))
        (tmp_path / f"trap{number}.keras").write_bytes(content)
    child = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", CHILD, str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    refused, memory = map(int, child.stdout.split())
    assert refused > 60
    assert memory < MOST_MEMORY
    assert len(list(tmp_path.iterdir())) == 200 + len(TRAPS)


# --- what people do by mistake --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("model.tflite", b"\x1c\0\0\0TFL3", "TensorFlow Lite"),
        ("model.onnx", b"\x08\x07", "ONNX"),
        ("model.pth", b"PK\x03\x04", "PyTorch"),
        ("saved_model.pb", b"\x08\x01", "graph of TensorFlow"),
        ("model.pkl", b"\x80\x04", "pickle, which can run code"),
        ("model.json", b"{}", "model_from_json"),
        ("model.keras", b"", "It is empty"),
        ("model.h5", b"version https://git-lfs.github.com/spec/v1\n", "git lfs pull"),
        ("model.h5", b"\n<!DOCTYPE html>", "web page"),
    ],
)
def test_a_file_of_another_kind_is_named(name, content, words, tmp_path):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ConfigError, match=words):
        load_model(tmp_path / name)


def test_folders_and_misspelt_names_are_explained(tmp_path):
    (tmp_path / "saved" / "variables").mkdir(parents=True)
    (tmp_path / "saved" / "saved_model.pb").write_bytes(b"\x08")
    with pytest.raises(ConfigError, match="is a SavedModel of TensorFlow"):
        load_model(tmp_path / "saved")
    with pytest.raises(ConfigError, match="expected a .keras or .h5 file, got a folder"):
        load_model(tmp_path)
    small_model().save(tmp_path / "model.keras")
    with pytest.raises(UnavailableError, match="Did you mean 'model.keras'"):
        load_model(tmp_path / "modle.keras")
    small_model().save_weights(tmp_path / "w.weights.h5")
    with pytest.raises(ConfigError, match="contains only weights"):
        load_model(tmp_path / "w.weights.h5")


@pytest.mark.parametrize("ending", ["keras", "h5"])
@pytest.mark.parametrize("error", [TimeoutError("no answer"), PermissionError(13, "not for you")])
def test_an_error_of_the_system_is_told_as_what_it_is(ending, error, tmp_path):
    class Asking(Layer):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            if loading:
                raise error

        def call(self, inputs):
            return inputs

    loading: list[bool] = []
    path = tmp_path / f"model.{ending}"
    Sequential([Asking(input_shape=(2,))]).save(path)
    loading.append(True)
    with pytest.raises(UnavailableError, match=f"cannot be read: {type(error).__name__}") as told:
        load_model(path, custom_objects={"Asking": Asking})
    assert "whole" not in str(told.value)
