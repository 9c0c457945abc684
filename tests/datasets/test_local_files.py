import gzip
import pickle
import struct

import numpy as np
import pytest

from kerascope.datasets.local_files import (
    find_file,
    read_idx,
    read_npz,
    read_pickled_dict,
    read_word_index,
)
from kerascope.errors import DataError, UnavailableError

LISTS = np.array([[1, 2, 3], [4], []], dtype=object)


class Trap:
    """A pickle of it calls open(path, "w") when an ordinary unpickler loads it."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return open, (str(self.path), "w")


def idx_bytes(array):
    header = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
    return gzip.compress(header + array.tobytes())


def test_plain_arrays_of_an_npz_file_are_read(tmp_path):
    numbers = np.arange(6.0).reshape(2, 3)
    np.savez(tmp_path / "a.npz", first=numbers, second=np.array([1, 2]))
    second, first = read_npz("here", tmp_path / "a.npz", ["second", "first"])
    np.testing.assert_array_equal(first, numbers)
    np.testing.assert_array_equal(second, [1, 2])


def test_arrays_of_lists_are_read(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", x=LISTS)
    (x,) = read_npz("here", tmp_path / "a.npz", ["x"])
    assert x.tolist() == [[1, 2, 3], [4], []]
    assert x.dtype == object


def test_an_npz_file_that_wants_to_run_code_is_refused(tmp_path):
    proof = tmp_path / "ran"
    np.savez(tmp_path / "a.npz", x=np.array([Trap(proof), 1], dtype=object))
    with pytest.raises(DataError, match=r"code, .*open, instead of an array"):
        read_npz("here", tmp_path / "a.npz", ["x"])
    assert not proof.exists()
    np.load(tmp_path / "a.npz", allow_pickle=True)["x"][0].close()
    assert proof.exists(), "the trap works: an ordinary unpickler falls into it"


def test_an_npz_file_without_a_name_is_refused(tmp_path):
    np.savez(tmp_path / "a.npz", x=LISTS)
    with pytest.raises(DataError, match=r"a\.npz cannot be read: expected an \.npz file with y"):
        read_npz("here", tmp_path / "a.npz", ["y"])


@pytest.mark.parametrize("length", [0, 1, 50, 120, -1])
def test_a_truncated_npz_file_is_refused(tmp_path, length):
    np.savez(tmp_path / "a.npz", x=LISTS)
    whole = (tmp_path / "a.npz").read_bytes()
    (tmp_path / "b.npz").write_bytes(whole[:length])
    with pytest.raises(DataError, match=r"here: .*b\.npz cannot be read.*Delete it"):
        read_npz("here", tmp_path / "b.npz", ["x"])


@pytest.mark.parametrize("array", [LISTS, np.arange(50)], ids=["lists", "numbers"])
def test_a_flipped_byte_in_an_npz_file_is_never_a_wrong_array(tmp_path, array):
    np.savez(tmp_path / "a.npz", x=array)
    whole = (tmp_path / "a.npz").read_bytes()
    refused = 0
    for place in range(0, len(whole), 3):
        broken = bytearray(whole)
        broken[place] ^= 0xFF
        (tmp_path / "b.npz").write_bytes(broken)
        try:
            (x,) = read_npz("here", tmp_path / "b.npz", ["x"])
        except DataError:
            refused += 1
        else:
            assert x.tolist() == array.tolist()
    assert refused > len(whole) // 6


@pytest.mark.parametrize("shape", [(5,), (2, 3), (2, 4, 3)])
def test_an_idx_file_is_read(tmp_path, shape):
    array = np.arange(np.prod(shape), dtype=np.uint8).reshape(shape)
    (tmp_path / "a.gz").write_bytes(idx_bytes(array))
    np.testing.assert_array_equal(read_idx("here", tmp_path / "a.gz", len(shape)), array)


def test_broken_idx_files_are_refused(tmp_path):
    whole = idx_bytes(np.ones((2, 3), np.uint8))
    short = gzip.compress(gzip.decompress(whole)[:-1])
    floats = gzip.compress(struct.pack(">HBB2I", 0, 13, 2, 1, 1) + b"\0\0\0\0")
    for content in (b"", b"no gzip", whole[:-9], short, floats, idx_bytes(np.ones(6, np.uint8))):
        (tmp_path / "a.gz").write_bytes(content)
        with pytest.raises(DataError, match="expected a gzip-packed idx file with 2 axes"):
            read_idx("here", tmp_path / "a.gz", axes=2)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickled_dictionary_of_arrays_is_read(tmp_path, protocol):
    batch = {"data": np.arange(4, dtype=np.uint8).reshape(2, 2), "labels": [1, np.int64(2)]}
    (tmp_path / "batch").write_bytes(pickle.dumps(batch, protocol=protocol))
    found = read_pickled_dict("here", tmp_path / "batch")
    np.testing.assert_array_equal(found[b"data"], batch["data"])
    assert list(found[b"labels"]) == [1, 2]


def test_a_pickle_of_python_2_is_read(tmp_path):
    array = (
        b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\n(I0\ntS'b'\ntR"
        b"(I1\n(I2\ntcnumpy\ndtype\n(S'u1'\nI0\nI1\ntR(I3\nS'|'\nNNNI-1\nI-1\nI0\ntb"
        b"I00\nS'\\x07\\xff'\ntb"
    )
    (tmp_path / "batch").write_bytes(b"(dS'data'\n" + array + b"s.")
    assert read_pickled_dict("here", tmp_path / "batch")[b"data"].tolist() == [7, 255]


def test_a_pickle_that_wants_to_run_code_is_refused(tmp_path):
    proof = tmp_path / "ran"
    (tmp_path / "batch").write_bytes(pickle.dumps({"data": Trap(proof)}))
    with pytest.raises(DataError, match="instead of an array"):
        read_pickled_dict("here", tmp_path / "batch")
    assert not proof.exists()


@pytest.mark.parametrize("call", ["cnumpy\nload\n", "cos\nsystem\n", "cbuiltins\neval\n"])
def test_a_pickle_that_names_a_function_is_refused(tmp_path, call):
    (tmp_path / "batch").write_bytes(call.encode() + b"(S'x'\ntR.")
    with pytest.raises(DataError, match="code, "):
        read_pickled_dict("here", tmp_path / "batch")


def test_broken_pickles_are_refused(tmp_path):
    whole = pickle.dumps({"data": np.arange(9)})
    for content in (b"", b"\xff\xfe", whole[:-5], whole[:20], pickle.dumps([1, 2])):
        (tmp_path / "batch").write_bytes(content)
        with pytest.raises(DataError, match="expected a pickled dictionary of arrays"):
            read_pickled_dict("here", tmp_path / "batch")


def test_a_word_index_is_read_and_a_broken_one_refused(tmp_path):
    path = tmp_path / "index.json"
    path.write_text('{"the": 1, "œuvre": 2}', encoding="utf-8")
    assert read_word_index("here", path) == {"the": 1, "œuvre": 2}
    for text in ("", '{"the": 1', "[1]", '{"the": "one"}'):
        path.write_text(text, encoding="utf-8")
        with pytest.raises(DataError, match="expected a JSON dictionary of numbers"):
            read_word_index("here", path)


def test_an_own_file_is_taken_as_it_is(tmp_path):
    own = tmp_path / "mine.npz"
    own.write_bytes(b"anything")
    assert find_file("here", own, "http://origin.invalid/a.npz", "0" * 64) == own


def test_a_missing_own_file_is_named(tmp_path, cache):
    with pytest.raises(UnavailableError) as caught:
        find_file("here", tmp_path / "no.npz", "http://origin.invalid/a.npz", "0" * 64)
    for words in (str(tmp_path / "no.npz"), "http://origin.invalid/a.npz", str(cache), "digits"):
        assert words in str(caught.value)
