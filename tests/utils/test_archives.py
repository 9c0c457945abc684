import io
import tarfile
import zipfile

import pytest

from kerascope.errors import ArgumentError, DataError
from kerascope.utils.data_utils import extract_archive

FILES = {"set/a.txt": b"first", "set/deep/b.txt": b"second" * 100}


def make_tar(path, files=FILES, mode="w:gz"):
    with tarfile.open(path, mode) as archive:
        for name, content in files.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    return path


def make_zip(path, files=FILES):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return path


def files_below(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("mode", ["w", "w:gz", "w:bz2", "w:xz"])
def test_a_tar_file_is_unpacked(tmp_path, mode):
    assert extract_archive(make_tar(tmp_path / "a", mode=mode), tmp_path / "out")
    assert files_below(tmp_path / "out") == FILES


def test_a_zip_file_is_unpacked(tmp_path):
    assert extract_archive(make_zip(tmp_path / "a"), tmp_path / "out")
    assert files_below(tmp_path / "out") == FILES


def test_unpacking_twice_replaces_the_folder(tmp_path):
    extract_archive(make_zip(tmp_path / "a"), tmp_path / "out")
    extract_archive(make_tar(tmp_path / "b", {"set/a.txt": b"new"}), tmp_path / "out")
    assert files_below(tmp_path / "out") == {"set/a.txt": b"new"}


def test_what_is_no_such_archive_is_left_alone(tmp_path):
    (tmp_path / "text").write_bytes(b"no archive")
    assert not extract_archive(tmp_path / "text", tmp_path / "out")
    assert not extract_archive(make_zip(tmp_path / "z"), tmp_path / "out", archive_format="tar")
    assert not extract_archive(make_tar(tmp_path / "t"), tmp_path / "out", archive_format=["zip"])
    assert not (tmp_path / "out").exists()


def test_an_unknown_format_is_refused(tmp_path):
    with pytest.raises(ArgumentError, match="got 'rar'"):
        extract_archive(make_zip(tmp_path / "a"), tmp_path, archive_format="rar")


@pytest.mark.parametrize("make", [make_tar, make_zip])
@pytest.mark.parametrize("name", ["../evil.txt", "/tmp/evil.txt", "set/../../evil.txt"])
def test_a_path_that_leads_out_is_refused_and_nothing_is_unpacked(tmp_path, make, name):
    archive = make(tmp_path / "a", {"good.txt": b"1", name: b"2"})
    with pytest.raises(DataError, match="contains a path outside of its folder"):
        extract_archive(archive, tmp_path / "out")
    assert files_below(tmp_path / "out") == {}
    assert not (tmp_path / "evil.txt").exists()


def test_links_are_left_out(tmp_path):
    with tarfile.open(tmp_path / "a", "w") as archive:
        link = tarfile.TarInfo("link")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc"
        archive.addfile(link)
        member = tarfile.TarInfo("real")
        archive.addfile(member, io.BytesIO())
    assert extract_archive(tmp_path / "a", tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["real"]


def test_a_truncated_archive_is_refused_and_leaves_the_old_folder(tmp_path):
    extract_archive(make_tar(tmp_path / "a"), tmp_path / "out")
    noise = bytes((n * n * 7 + n // 3) % 251 for n in range(40_000))
    whole = make_tar(tmp_path / "b", {"set/c.bin": noise}).read_bytes()
    (tmp_path / "b").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(DataError, match=r"cannot be unpacked \("):
        extract_archive(tmp_path / "b", tmp_path / "out")
    assert files_below(tmp_path / "out") == FILES
