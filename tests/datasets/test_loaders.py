"""Each Keras data set: a small file of its real form is loaded; without a file the error helps."""

import gzip
import hashlib
import json
import pickle
import struct
import tarfile

import numpy as np
import pytest

from kerascope.datasets import (
    boston_housing,
    cifar10,
    cifar100,
    fashion_mnist,
    imdb,
    mnist,
    reuters,
)
from kerascope.errors import ArgumentError, DataError, UnavailableError
from kerascope.settings import config

RANDOM = np.random.default_rng(0)


def lists(*texts):
    array = np.empty(len(texts), dtype=object)
    array[:] = [list(text) for text in texts]
    return array


def pixels(*shape):
    return RANDOM.integers(0, 256, size=shape, dtype=np.uint8)


# --- offline --------------------------------------------------------------------------------------

LOADERS = {
    "mnist.npz": mnist.load_data,
    "train-images-idx3-ubyte.gz": fashion_mnist.load_data,
    "cifar-10-batches-py.tar.gz": cifar10.load_data,
    "cifar-100-python.tar.gz": cifar100.load_data,
    "imdb.npz": imdb.load_data,
    "imdb_word_index.json": imdb.get_word_index,
    "reuters.npz": reuters.load_data,
    "reuters_word_index.json": reuters.get_word_index,
    "boston_housing.npz": boston_housing.load_data,
}


@pytest.mark.parametrize("name", LOADERS)
def test_offline_the_error_says_where_to_get_the_file_and_where_to_put_it(name, cache):
    with pytest.raises(OSError, match="could not be downloaded") as caught:
        LOADERS[name]()
    assert isinstance(caught.value, UnavailableError)
    message = str(caught.value)
    assert "https://" in message
    assert str(cache) in message
    assert name in message
    assert "kerascope.datasets.digits needs no network" in message


@pytest.mark.parametrize("name", LOADERS)
def test_a_wrong_file_in_the_cache_is_never_loaded_nor_deleted(name, cache):
    folder = cache / "fashion-mnist" if "idx" in name else cache
    folder.mkdir(exist_ok=True)
    (folder / name).write_bytes(b"half a download")
    with pytest.raises(UnavailableError, match="has a wrong checksum and could not be downloaded"):
        LOADERS[name]()
    assert [path.name for path in folder.iterdir()] == [name]


@pytest.mark.parametrize(
    "loader", [mnist.load_data, imdb.load_data, reuters.load_data, boston_housing.load_data]
)
def test_a_truncated_own_file_is_refused(loader, tmp_path):
    np.savez(tmp_path / "whole.npz", x=lists([1]), y=[1], x_train=lists([1]), y_train=[1])
    path = tmp_path / "half.npz"
    path.write_bytes((tmp_path / "whole.npz").read_bytes()[:200])
    with pytest.raises(DataError, match=r"load_data: .*half\.npz cannot be read"):
        loader(str(path))


# --- pictures -------------------------------------------------------------------------------------


def test_mnist_returns_the_arrays_of_its_file(tmp_path):
    content = {
        "x_train": pixels(5, 28, 28),
        "y_train": np.arange(5, dtype=np.uint8),
        "x_test": pixels(2, 28, 28),
        "y_test": np.array([7, 9], np.uint8),
    }
    np.savez(tmp_path / "mnist.npz", **content)
    (x_train, y_train), (x_test, y_test) = mnist.load_data(str(tmp_path / "mnist.npz"))
    np.testing.assert_array_equal(x_train, content["x_train"])
    np.testing.assert_array_equal(y_train, content["y_train"])
    np.testing.assert_array_equal(x_test, content["x_test"])
    np.testing.assert_array_equal(y_test, content["y_test"])


def test_mnist_takes_a_right_file_from_the_cache(cache, monkeypatch):
    arrays = {name: np.arange(3) for name in ("x_train", "y_train", "x_test", "y_test")}
    np.savez(cache / "mnist.npz", **arrays)
    right = hashlib.sha256((cache / "mnist.npz").read_bytes()).hexdigest()
    monkeypatch.setattr(mnist, "SHA256", right)
    (x_train, _), _ = mnist.load_data()
    assert x_train.tolist() == [0, 1, 2]


@pytest.fixture
def fashion(cache, monkeypatch):
    """Write the four files, and believe their checksums."""

    def write(**arrays):
        folder = cache / "fashion-mnist"
        folder.mkdir(exist_ok=True)
        checksums = {}
        for name, array in arrays.items():
            file_name = f"{name.replace('_', '-')}-idx{array.ndim}-ubyte.gz"
            header = struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape)
            content = gzip.compress(header + array.tobytes())
            (folder / file_name).write_bytes(content)
            checksums[file_name] = hashlib.md5(content).hexdigest()
        assert checksums.keys() == fashion_mnist.MD5.keys()
        monkeypatch.setattr(fashion_mnist, "MD5", checksums)

    return write


def test_fashion_mnist_reads_its_four_files(fashion):
    x_train, x_test = pixels(4, 28, 28), pixels(3, 28, 28)
    y_train, y_test = pixels(4), pixels(3)
    fashion(train_images=x_train, train_labels=y_train, t10k_images=x_test, t10k_labels=y_test)
    found_train, found_test = fashion_mnist.load_data()
    np.testing.assert_array_equal(found_train[0], x_train)
    np.testing.assert_array_equal(found_train[1], y_train)
    np.testing.assert_array_equal(found_test[0], x_test)
    np.testing.assert_array_equal(found_test[1], y_test)


def test_fashion_mnist_refuses_images_without_labels(fashion):
    fashion(
        train_images=pixels(4, 28, 28),
        train_labels=pixels(3),
        t10k_images=pixels(1, 28, 28),
        t10k_labels=pixels(1),
    )
    with pytest.raises(DataError, match="expected 4 labels, got 3"):
        fashion_mnist.load_data()


def write_cifar10(folder, samples=2):
    folder.mkdir()
    batches = {}
    for number, name in enumerate([*(f"data_batch_{n}" for n in range(1, 6)), "test_batch"]):
        batches[name] = {"data": pixels(samples, 3072), "labels": [number] * samples}
        (folder / name).write_bytes(pickle.dumps(batches[name], protocol=2))
    return batches


def test_cifar10_joins_its_batches_and_moves_the_colours_last(cache):
    batches = write_cifar10(cache / "cifar-10-batches-py")
    (x_train, y_train), (x_test, y_test) = cifar10.load_data()
    assert x_train.shape == (10, 32, 32, 3)
    assert y_train.ravel().tolist() == [0, 0, 1, 1, 2, 2, 3, 3, 4, 4]
    assert y_test.tolist() == [[5], [5]]
    green_of_first = batches["test_batch"]["data"][0].reshape(3, 32, 32)[1]
    np.testing.assert_array_equal(x_test[0, :, :, 1], green_of_first)


def test_cifar10_follows_the_image_data_format(cache, monkeypatch):
    write_cifar10(cache / "cifar-10-batches-py")
    monkeypatch.setattr(config, "image_data_format", "channels_first")
    (x_train, _), _ = cifar10.load_data()
    assert x_train.shape == (10, 3, 32, 32)


def test_cifar10_unpacks_its_archive_once(cache, tmp_path, monkeypatch):
    write_cifar10(tmp_path / "cifar-10-batches-py")
    archive = cache / "cifar-10-batches-py.tar.gz"
    with tarfile.open(archive, "w:gz") as tar:
        tar.add(tmp_path / "cifar-10-batches-py", "cifar-10-batches-py")
    monkeypatch.setattr(cifar10, "SHA256", hashlib.sha256(archive.read_bytes()).hexdigest())
    (first, _), _ = cifar10.load_data()
    archive.unlink()
    (second, _), _ = cifar10.load_data()
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize(
    "batch",
    [
        {"data": pixels(2, 3072), "labels": [1]},
        {"data": pixels(2, 100), "labels": [1, 2]},
        {"data": pixels(2, 3072), "labels": [1, 300]},
        {"data": pixels(2, 3072)},
    ],
    ids=["too few labels", "too few pixels", "a label beyond a byte", "no labels"],
)
def test_cifar10_refuses_a_batch_that_does_not_fit(cache, batch):
    write_cifar10(cache / "cifar-10-batches-py")
    path = cache / "cifar-10-batches-py" / "data_batch_3"
    path.write_bytes(pickle.dumps(batch, protocol=2))
    with pytest.raises(DataError, match=r"data_batch_3 cannot be read: expected images of 3x32x32"):
        cifar10.load_data()


def test_cifar10_names_a_missing_batch(cache):
    write_cifar10(cache / "cifar-10-batches-py")
    (cache / "cifar-10-batches-py" / "data_batch_5").unlink()
    with pytest.raises(DataError, match="data_batch_5 cannot be read"):
        cifar10.load_data()


def test_cifar100_returns_fine_or_coarse_labels(cache):
    folder = cache / "cifar-100-python"
    folder.mkdir()
    for name in ("train", "test"):
        batch = {"data": pixels(2, 3072), "fine_labels": [99, 3], "coarse_labels": [19, 1]}
        (folder / name).write_bytes(pickle.dumps(batch, protocol=2))
    (x_train, fine), _ = cifar100.load_data()
    _, (_, coarse) = cifar100.load_data("coarse")
    assert x_train.shape == (2, 32, 32, 3)
    assert fine.tolist() == [[99], [3]]
    assert coarse.tolist() == [[19], [1]]


def test_cifar100_refuses_another_label_mode():
    with pytest.raises(ArgumentError, match="expected label_mode 'fine' or 'coarse', got 'medium'"):
        cifar100.load_data("medium")


# --- numbers --------------------------------------------------------------------------------------


def write_boston(path, count=10):
    x = np.arange(count * 13.0).reshape(count, 13)
    np.savez(path, x=x, y=x[:, 0])
    return str(path)


def test_boston_housing_is_shuffled_and_split(tmp_path):
    path = write_boston(tmp_path / "boston.npz")
    (x_train, y_train), (x_test, y_test) = boston_housing.load_data(path, test_split=0.3)
    assert x_train.shape == (7, 13)
    assert x_test.shape == (3, 13)
    np.testing.assert_array_equal(x_train[:, 0], y_train)
    together = np.concatenate([y_train, y_test])
    assert sorted(together) == [13.0 * row for row in range(10)]
    assert together.tolist() != sorted(together)


def test_boston_housing_has_the_order_of_numpys_seeded_global_generator(tmp_path):
    path = write_boston(tmp_path / "boston.npz")
    (_, y_train), (_, y_test) = boston_housing.load_data(path, seed=113)
    order = np.arange(10)
    np.random.RandomState(113).shuffle(order)
    assert [*y_train, *y_test] == [13.0 * row for row in order]


def test_boston_housing_without_a_test_set(tmp_path):
    path = write_boston(tmp_path / "boston.npz")
    (x_train, _), (x_test, y_test) = boston_housing.load_data(path, test_split=0)
    assert len(x_train) == 10
    assert len(x_test) == len(y_test) == 0


@pytest.mark.parametrize("test_split", [-0.1, 1, 1.5])
@pytest.mark.parametrize("loader", [boston_housing.load_data, reuters.load_data])
def test_a_test_split_that_is_no_share_is_refused(loader, test_split):
    with pytest.raises(ArgumentError, match="expected 0 <= test_split < 1"):
        loader(test_split=test_split)


# --- texts ----------------------------------------------------------------------------------------


@pytest.fixture
def imdb_file(tmp_path):
    """Train texts 1.., test texts 101..; the label is the text's first word."""
    train = lists([1, 4, 9], [2, 4], [3, 5, 6, 7, 8])
    test = lists([101, 4], [102, 5])
    np.savez(
        tmp_path / "imdb.npz", x_train=train, y_train=[1, 2, 3], x_test=test, y_test=[101, 102]
    )
    return str(tmp_path / "imdb.npz")


def by_label(samples):
    x, y = samples
    return {int(label): text for text, label in zip(x, y, strict=True)}


def test_imdb_marks_the_start_and_shifts_the_words(imdb_file):
    train, test = imdb.load_data(imdb_file)
    assert by_label(train) == {1: [1, 4, 7, 12], 2: [1, 5, 7], 3: [1, 6, 8, 9, 10, 11]}
    assert by_label(test) == {101: [1, 104, 7], 102: [1, 105, 8]}


def test_imdb_replaces_rare_and_frequent_words(imdb_file):
    train, _ = imdb.load_data(imdb_file, num_words=10, skip_top=6)
    assert by_label(train) == {1: [2, 2, 7, 2], 2: [2, 2, 7], 3: [2, 6, 8, 9, 2, 2]}


def test_imdb_drops_words_without_an_oov_char(imdb_file):
    train, _ = imdb.load_data(imdb_file, num_words=9, oov_char=None)
    assert by_label(train) == {1: [1, 4, 7], 2: [1, 5, 7], 3: [1, 6, 8]}


def test_imdb_without_marks_gives_the_numbers_of_the_file(imdb_file):
    train, _ = imdb.load_data(imdb_file, start_char=None, index_from=0, oov_char=None)
    assert by_label(train) == {1: [1, 4, 9], 2: [2, 4], 3: [3, 5, 6, 7, 8]}


def test_imdb_keeps_texts_shorter_than_maxlen_in_their_own_set(imdb_file):
    train, test = imdb.load_data(imdb_file, maxlen=5)
    assert set(by_label(train)) == {1, 2}
    assert set(by_label(test)) == {101, 102}


def test_imdb_says_so_when_no_text_is_short_enough(imdb_file):
    with pytest.raises(DataError, match="expected texts shorter than maxlen"):
        imdb.load_data(imdb_file, maxlen=3)


def test_imdb_texts_of_equal_length_stay_lists(tmp_path):
    texts, path = lists([1, 2], [3, 4]), tmp_path / "imdb.npz"
    np.savez(path, x_train=texts, y_train=[0, 1], x_test=texts, y_test=[0, 1])
    (x_train, _), _ = imdb.load_data(str(path))
    assert x_train.shape == (2,)
    assert all(isinstance(text, list) for text in x_train)


def test_imdb_shuffles_both_sets_from_one_seed(tmp_path):
    texts, labels = lists(*([n] for n in range(20))), np.arange(20)
    path = tmp_path / "imdb.npz"
    np.savez(path, x_train=texts, y_train=labels, x_test=texts, y_test=labels)
    (_, y_train), (_, y_test) = imdb.load_data(str(path), seed=4)
    stream = np.random.RandomState(4)
    for found in (y_train, y_test):
        order = np.arange(20)
        stream.shuffle(order)
        assert found.tolist() == order.tolist()


@pytest.mark.parametrize("loader", [imdb.load_data, reuters.load_data])
def test_a_misspelt_keyword_is_refused(loader):
    with pytest.raises(ArgumentError, match="unknown argument 'num_word'"):
        loader(num_word=10)


def test_reuters_is_shuffled_chosen_and_split(tmp_path):
    texts, labels = lists(*([n, 50] for n in range(10))), np.arange(10)
    np.savez(tmp_path / "reuters.npz", x=texts, y=labels)
    train, test = reuters.load_data(str(tmp_path / "reuters.npz"), num_words=40)
    assert (len(train[0]), len(test[0])) == (8, 2)
    both = {**by_label(train), **by_label(test)}
    assert both == {n: [1, n + 3, 2] for n in range(10)}
    assert [*train[1], *test[1]] != list(range(10))


@pytest.mark.parametrize("module", [imdb, reuters])
def test_a_word_index_comes_from_its_file(module, tmp_path):
    (tmp_path / "index.json").write_text(json.dumps({"the": 1, "film": 2}), encoding="utf-8")
    assert module.get_word_index(str(tmp_path / "index.json")) == {"the": 1, "film": 2}
