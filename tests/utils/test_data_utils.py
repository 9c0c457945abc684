import hashlib
import io
import tarfile
from itertools import islice
from pathlib import Path
from urllib.error import URLError

import pytest

from kerascope.compat.private_names import iter_sequence_infinite
from kerascope.errors import ArgumentError, DataError, UnavailableError
from kerascope.utils import Sequence, get_file, validate_file
from kerascope.utils.data_utils import cache_folder

URL = "https://example.invalid/data.bin"
CONTENT = b"some bytes" * 20_000
MD5 = hashlib.md5(CONTENT).hexdigest()
SHA256 = hashlib.sha256(CONTENT).hexdigest()


class Response(io.BytesIO):
    def __init__(self, content=b"", announced=None):
        super().__init__(content)
        self.headers = {} if announced is None else {"Content-Length": announced}


class Server:
    """Stands for the network: answers `urlopen`, counts the calls."""

    def __init__(self):
        self.content = CONTENT
        self.announced = None
        self.is_reachable = True
        self.calls = []

    def __call__(self, url, timeout):
        self.calls.append(url)
        if not self.is_reachable:
            raise URLError("no route to host")
        return Response(self.content, self.announced)


@pytest.fixture
def server(monkeypatch):
    server = Server()
    monkeypatch.setattr("urllib.request.urlopen", server)
    return server


@pytest.fixture
def cache(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("KERAS_HOME", str(tmp_path / "home"))
    return tmp_path / "home" / "datasets"


def names_in(folder):
    return sorted(path.name for path in folder.iterdir())


# --- get_file -------------------------------------------------------------------------------------


def test_a_file_is_fetched_once(server, cache, capsys):
    path = get_file("data.bin", URL, file_hash=SHA256)
    assert path == str(cache / "data.bin")
    assert Path(path).read_bytes() == CONTENT
    assert get_file("data.bin", URL, file_hash=SHA256) == path
    assert server.calls == [URL]
    assert capsys.readouterr().out == f"Downloading {URL} to {path}\n"


def test_the_folder_is_the_callers_choice(server, tmp_path):
    path = get_file("data.bin", URL, cache_subdir="sub", cache_dir=tmp_path / "mine")
    assert Path(path) == tmp_path / "mine" / "sub" / "data.bin"


def test_the_cache_lies_in_the_home_folder(monkeypatch):
    monkeypatch.delenv("KERAS_HOME", raising=False)
    assert cache_folder() == Path.home() / ".keras" / "datasets"


def test_a_file_with_a_wrong_checksum_is_fetched_again(server, cache):
    cache.mkdir(parents=True)
    (cache / "data.bin").write_bytes(b"old")
    assert Path(get_file("data.bin", URL, md5_hash=MD5)).read_bytes() == CONTENT


def test_without_a_checksum_the_file_in_the_cache_is_taken(server, cache):
    cache.mkdir(parents=True)
    (cache / "data.bin").write_bytes(b"old")
    assert Path(get_file("data.bin", URL)).read_bytes() == b"old"
    assert server.calls == []


def test_offline_the_error_names_the_url_and_the_place_and_digits(server, cache):
    server.is_reachable = False
    with pytest.raises(UnavailableError) as caught:
        get_file("data.bin", URL, file_hash=SHA256)
    message = str(caught.value)
    for words in (URL, str(cache / "data.bin"), "no route to host", "digits needs no network"):
        assert words in message
    assert names_in(cache) == []


def test_offline_a_wrong_file_is_kept_and_named(server, cache):
    cache.mkdir(parents=True)
    (cache / "data.bin").write_bytes(b"old")
    server.is_reachable = False
    with pytest.raises(UnavailableError, match="has a wrong checksum"):
        get_file("data.bin", URL, file_hash=SHA256)
    assert (cache / "data.bin").read_bytes() == b"old"


def test_a_download_with_another_checksum_leaves_nothing(server, cache):
    server.content = b"a page that says: log in first"
    got = hashlib.sha256(server.content).hexdigest()
    with pytest.raises(UnavailableError, match=f"expected the checksum {SHA256}, got {got}"):
        get_file("data.bin", URL, file_hash=SHA256)
    assert names_in(cache) == []


def test_a_download_that_breaks_off_leaves_nothing(server, cache):
    server.announced = str(len(CONTENT) + 1)
    with pytest.raises(UnavailableError, match="the download ended early: expected 200001 bytes"):
        get_file("data.bin", URL)
    assert names_in(cache) == []


def test_an_interrupted_download_leaves_nothing(server, cache, monkeypatch):
    class Interrupted(Response):
        def read(self, size):
            raise KeyboardInterrupt

    monkeypatch.setattr("urllib.request.urlopen", lambda url, timeout: Interrupted())
    with pytest.raises(KeyboardInterrupt):
        get_file("data.bin", URL)
    assert names_in(cache) == []


def test_a_folder_that_cannot_be_made_is_named(server, cache):
    cache.parent.mkdir()
    cache.write_bytes(b"a file where the folder should be")
    with pytest.raises(UnavailableError, match="its folder cannot be written"):
        get_file("data.bin", URL)


def test_a_malformed_url_is_an_error_of_ours(cache):
    with pytest.raises(UnavailableError, match="unknown url type"):
        get_file("data.bin", "no url")


def tar_of(name, content):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        member = tarfile.TarInfo(name)
        member.size = len(content)
        archive.addfile(member, io.BytesIO(content))
    return buffer.getvalue()


def test_untar_returns_the_folder(server, cache):
    server.content = tar_of("set/a.txt", b"first")
    path = Path(get_file("set", URL, untar=True))
    assert path == cache / "set"
    assert (path / "a.txt").read_bytes() == b"first"
    assert names_in(cache) == ["set", "set.tar.gz"]
    get_file("set", URL, untar=True)
    assert len(server.calls) == 1


def test_untar_returns_the_one_file_of_an_archive(server, cache):
    server.content = tar_of("set", b"first")
    for _ in range(2):
        assert Path(get_file("set", URL, untar=True)).read_bytes() == b"first"
    assert names_in(cache) == ["set", "set.tar.gz"]
    assert len(server.calls) == 1


@pytest.mark.parametrize("content", [b"no archive", tar_of("other/a.txt", b"first")])
def test_untar_of_an_archive_without_the_folder_is_refused(server, cache, content):
    server.content = content
    with pytest.raises(DataError, match="does not contain set"):
        get_file("set", URL, untar=True)


def test_extract_unpacks_beside_the_archive(server, cache):
    server.content = tar_of("set/a.txt", b"first")
    path = get_file("data.tgz", URL, extract=True)
    assert Path(path) == cache / "data.tgz"
    assert (cache / "set" / "a.txt").read_bytes() == b"first"


# --- validate_file --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("checksum", "algorithm", "is_right"),
    [
        (MD5, "auto", True),
        (SHA256, "auto", True),
        (SHA256.upper(), "sha256", True),
        (MD5, "md5", True),
        (MD5, "sha256", False),
        ("0" * 64, "auto", False),
        ("0" * 32, "auto", False),
    ],
)
def test_a_file_is_validated_by_its_checksum(tmp_path, checksum, algorithm, is_right):
    (tmp_path / "file").write_bytes(CONTENT)
    assert validate_file(tmp_path / "file", checksum, algorithm) is is_right
    assert validate_file(str(tmp_path / "file"), checksum, algorithm, chunk_size=7) is is_right


def test_an_unknown_algorithm_is_refused(tmp_path):
    with pytest.raises(ArgumentError, match="got 'crc32'"):
        validate_file(tmp_path / "file", "0", algorithm="crc32")


# --- Sequence -------------------------------------------------------------------------------------


class Squares(Sequence):
    def __getitem__(self, index):
        return index**2

    def __len__(self):
        return 4


def test_a_sequence_yields_each_batch_once_and_can_be_read_again():
    squares = Squares()
    assert list(squares) == [0, 1, 4, 9]
    assert list(squares) == [0, 1, 4, 9]


def test_a_sequence_may_leave_the_end_of_an_epoch_out():
    assert Squares().on_epoch_end() is None


def test_a_sequence_without_a_length_cannot_be_made():
    class Endless(Sequence):
        def __getitem__(self, index):
            return index

    with pytest.raises(TypeError, match="__len__"):
        Endless()


def test_extract_unpacks_what_an_earlier_call_only_fetched(server, cache):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        archive.addfile(tarfile.TarInfo("empty.txt"))
    server.content = buffer.getvalue()
    get_file("data.tgz", URL)
    assert names_in(cache) == ["data.tgz"]
    get_file("data.tgz", URL, extract=True)
    assert names_in(cache) == ["data.tgz", "empty.txt"]
    assert server.calls == [URL]


def test_a_sequence_without_end_begins_again_from_its_first_batch():
    class Three(Sequence):
        def __len__(self):
            return 3

        def __getitem__(self, index):
            return index

    assert list(islice(iter_sequence_infinite(Three()), 7)) == [0, 1, 2, 0, 1, 2, 0]
