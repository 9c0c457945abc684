"""Image files: PIL images and arrays, folders of classes, tables of names."""

import json
import sys

import numpy as np
import pytest

from kerascope.errors import (
    ArgumentError,
    DataError,
    KerascopeWarning,
    MissingToolError,
    SpellingWarning,
    UnavailableError,
)
from kerascope.preprocessing import image

pil = pytest.importorskip("PIL.Image")
RNG = np.random.default_rng(0)
PIXELS = RNG.integers(0, 256, (5, 7, 3)).astype("uint8")


@pytest.fixture
def folder(tmp_path):
    """Two classes, four and two images, and a file that is none."""
    for name, count in (("cats", 4), ("dogs", 2)):
        (tmp_path / name / "deep").mkdir(parents=True)
        for index in range(count):
            place = tmp_path / name / ("deep" if index == 0 else ".") / f"{index}.png"
            value = 10 * index + (100 if name == "dogs" else 0)
            image.save_img(place, np.full((4, 6, 3), value), scale=False)
    (tmp_path / "cats" / "notes.txt").write_text("no image", encoding="utf-8")
    return tmp_path


# --- one image ------------------------------------------------------------------------------------


@pytest.mark.parametrize("channels", [1, 3, 4])
@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
def test_an_array_becomes_an_image_and_comes_back(channels, data_format):
    pixels = RNG.integers(0, 256, (5, 7, channels)).astype("float32")
    if data_format == "channels_first":
        pixels = pixels.transpose(2, 0, 1)
    picture = image.array_to_img(pixels, data_format, scale=False)
    assert picture.mode == {1: "L", 3: "RGB", 4: "RGBA"}[channels]
    assert picture.size == (7, 5)
    again = image.img_to_array(picture, data_format)
    assert again.dtype == np.float32
    np.testing.assert_array_equal(again, pixels)


def test_scaling_stretches_to_the_whole_range():
    stretched = np.asarray(image.array_to_img(np.array([[[-1.0], [0.0], [1.0]]])))
    assert stretched.tolist() == [[0, 127, 255]]
    assert not np.asarray(image.array_to_img(np.zeros((2, 2, 1)))).any()


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: image.array_to_img(np.zeros((2, 2))), "expected 3 axes"),
        (lambda: image.array_to_img(np.zeros((2, 2, 5))), "expected 1, 3 or 4 channels, got 5"),
        (lambda: image.img_to_array(np.zeros(3)), "expected 2 or 3 axes"),
        (lambda: image.img_to_array(PIXELS, "last"), "got 'last'"),
        (lambda: image.load_img("x.png", color_mode="bgr"), "got 'bgr'"),
        (lambda: image.load_img("x.png", interpolation="bilinar"), "Did you mean 'bilinear'"),
    ],
)
def test_mistakes_are_named(call, words):
    with pytest.raises(ArgumentError, match=words):
        call()


def test_a_file_is_written_and_read(tmp_path):
    path = tmp_path / "picture.png"
    image.save_img(path, PIXELS, scale=False)
    np.testing.assert_array_equal(image.img_to_array(image.load_img(path)), PIXELS)
    assert image.load_img(path, color_mode="rgba").mode == "RGBA"
    assert image.load_img(str(path), color_mode="grayscale").mode == "L"
    with pytest.warns(SpellingWarning, match="Use color_mode='grayscale'"):
        assert image.load_img(path, grayscale=True).mode == "L"
    small = image.load_img(path, target_size=(2, 3), interpolation="lanczos")
    assert small.size == (3, 2)


def test_transparency_does_not_go_into_a_jpeg(tmp_path):
    with pytest.warns(UserWarning, match="JPEG has no transparency"):
        image.save_img(tmp_path / "a.jpg", np.ones((2, 2, 4)))
    assert image.load_img(tmp_path / "a.jpg").size == (2, 2)


def test_a_file_that_is_missing_or_no_image_is_named(tmp_path):
    with pytest.raises(UnavailableError, match=r"cannot read .*nothing\.png"):
        image.load_img(tmp_path / "nothing.png")
    (tmp_path / "text.png").write_text("no image", encoding="utf-8")
    with pytest.raises(UnavailableError, match=r"cannot read .*text\.png"):
        image.load_img(tmp_path / "text.png")
    with pytest.raises(UnavailableError, match="cannot write"):
        image.save_img(tmp_path / "no" / "a.png", PIXELS)


def test_without_pil_the_remedy_is_named_and_arrays_still_work(monkeypatch):
    monkeypatch.setitem(sys.modules, "PIL", None)
    with pytest.raises(MissingToolError, match=r"pip install 'kerascope\[image\]'"):
        image.load_img("a.png")
    with pytest.raises(MissingToolError, match="array_to_img: image files need PIL"):
        image.array_to_img(PIXELS)
    brighter = image.ImageDataGenerator(rotation_range=9, brightness_range=(1, 2))
    assert brighter.flow(PIXELS[np.newaxis], batch_size=1)[0].shape == (1, 5, 7, 3)


def test_pictures_are_listed_sorted(folder):
    names = [path[len(str(folder)) + 1 :] for path in image.list_pictures(folder)]
    assert len(names) == 6
    assert names == sorted(names)
    assert image.list_pictures(folder, ext="jpg") == []
    assert len(image.list_pictures(folder, ext=("txt", "png"))) == 7


# --- folders --------------------------------------------------------------------------------------


def flow(folder, **arguments):
    arguments = {"target_size": (4, 6), "batch_size": 4, "shuffle": False, **arguments}
    return image.ImageDataGenerator().flow_from_directory(folder, **arguments)


def all_of(batches):
    return [batches[index] for index in range(len(batches))]


def test_folders_are_classes(folder, capsys):
    batches = flow(folder)
    assert capsys.readouterr().out == "Found 6 images belonging to 2 classes.\n"
    assert batches.class_indices == {"cats": 0, "dogs": 1}
    assert batches.classes.tolist() == [0, 0, 0, 0, 1, 1]
    assert (batches.samples, batches.num_classes, batches.image_shape) == (6, 2, (4, 6, 3))
    x, y = batches[1]
    assert y.tolist() == [[0, 1], [0, 1]]
    for pixels, name in zip(x, batches.filenames[4:], strict=True):
        assert set(pixels.ravel()) == {100 + 10 * int(name[-5])}


@pytest.mark.parametrize(
    ("class_mode", "expected"),
    [
        ("categorical", [[1, 0]] * 4 + [[0, 1]] * 2),
        ("binary", [0.0] * 4 + [1.0] * 2),
        ("sparse", [0] * 4 + [1] * 2),
    ],
)
def test_each_class_mode_makes_its_targets(folder, class_mode, expected):
    batches = flow(folder, class_mode=class_mode)
    targets = np.concatenate([y for _, y in all_of(batches)])
    assert targets.tolist() == expected
    assert targets.dtype == ("int32" if class_mode == "sparse" else "float32")


def test_images_can_be_their_own_targets_or_have_none(folder):
    x, y = flow(folder, class_mode="input")[0]
    np.testing.assert_array_equal(x, y)
    assert flow(folder, class_mode=None)[0].shape == (4, 4, 6, 3)


def test_classes_can_be_chosen_and_numbered(folder):
    batches = flow(folder, classes=["dogs", "cats"], color_mode="grayscale")
    assert batches.class_indices == {"dogs": 0, "cats": 1}
    assert batches[0][0].shape == (4, 4, 6, 1)
    assert flow(folder, classes=["dogs"]).samples == 2


def test_a_part_of_each_class_is_for_validation(folder, capsys):
    images = image.ImageDataGenerator(validation_split=0.5)
    parts = [
        images.flow_from_directory(folder, subset=subset).filenames
        for subset in ("validation", "training")
    ]
    assert [len(part) for part in parts] == [3, 3]
    assert sorted([*parts[0], *parts[1]]) == sorted(flow(folder).filenames)


def test_what_was_made_can_be_saved(folder, tmp_path):
    target = tmp_path / "made"
    flow(folder, save_to_dir=target, save_prefix="x", class_mode=None)[0]
    assert sorted(path.name for path in target.iterdir()) == [f"x_{i}_0.png" for i in range(4)]


def test_a_real_keras_reads_the_same_batches(keras, folder):
    real = keras.src.legacy.preprocessing.image
    theirs = real.ImageDataGenerator().flow_from_directory(
        str(folder), target_size=(3, 5), batch_size=4, shuffle=False
    )
    ours = flow(folder, target_size=(3, 5))
    assert ours.filenames == list(theirs.filenames)
    for mine, other in zip(all_of(ours), all_of(theirs), strict=True):
        np.testing.assert_array_equal(mine[0], other[0])
        np.testing.assert_array_equal(mine[1], other[1])


def test_mistakes_about_folders_are_named(folder):
    with pytest.raises(UnavailableError, match="no folder '.*nowhere'"):
        flow(folder / "nowhere")
    with pytest.raises(ArgumentError, match=r"unknown class_mode 'catagorical'\. Did you mean"):
        flow(folder, class_mode="catagorical")


# --- tables ---------------------------------------------------------------------------------------

TABLE = {
    "filename": ["cats/1.png", "dogs/1.png", "cats/gone.png", "cats/2.png"],
    "class": ["cat", "dog", "cat", "cat"],
    "weight": [4.0, 20.0, 0.0, 5.0],
    "height": [0.3, 0.6, 0.0, 0.4],
}


def from_table(folder, table=TABLE, **arguments):
    arguments = {"target_size": (4, 6), "shuffle": False, **arguments}
    return image.ImageDataGenerator().flow_from_dataframe(table, folder, **arguments)


def test_a_table_names_files_and_classes(folder, capsys):
    batches = from_table(folder)
    assert capsys.readouterr().out == "Found 3 images belonging to 2 classes.\n"
    assert batches.filenames == ["cats/1.png", "dogs/1.png", "cats/2.png"]
    x, y = batches[0]
    assert y.tolist() == [[1, 0], [0, 1], [1, 0]]
    assert [pixels.max() for pixels in x] == [10, 110, 20]


def test_a_table_may_be_a_dataframe(folder):
    pandas = pytest.importorskip("pandas")
    x, y = from_table(folder, pandas.DataFrame(TABLE))[0]
    np.testing.assert_array_equal(x, from_table(folder)[0][0])
    np.testing.assert_array_equal(y, from_table(folder)[0][1])


def test_numbers_of_a_table_can_be_targets(folder):
    y = from_table(folder, class_mode="other", y_col=["weight", "height"])[0][1]
    assert y.tolist() == [[4.0, 0.3], [20.0, 0.6], [5.0, 0.4]]
    assert from_table(folder, class_mode="other", y_col="weight")[0][1].tolist() == [4, 20, 5]


def test_names_may_lack_their_endings_and_classes_be_chosen(folder):
    table = {"filename": ["cats/1", "dogs/1"], "class": ["cat", "dog"]}
    assert from_table(folder, table, has_ext=False).filenames == ["cats/1.png", "dogs/1.png"]
    assert from_table(folder, classes=["dog"]).filenames == ["dogs/1.png"]
    assert from_table(folder, class_mode=None)[0].shape == (3, 4, 6, 3)


def test_mistakes_about_tables_are_named(folder):
    with pytest.raises(DataError, match="no column 'clas'. Did you mean 'class'"):
        from_table(folder, y_col="clas")
    with pytest.raises(DataError, match="no file of the table is in"):
        from_table(folder / "dogs")


def test_a_class_without_a_folder_is_told(folder):
    images = image.ImageDataGenerator()
    with pytest.warns(KerascopeWarning, match="no folder 'dgos' in .*Did you mean 'dogs'"):
        flow = images.flow_from_directory(folder, classes=["cats", "dgos"])
    assert flow.class_indices == {"cats": 0, "dgos": 1}


@pytest.mark.parametrize("size", [(28, 28, 3), 0, "big", None])
def test_a_size_that_is_none_is_refused_at_once(folder, size):
    with pytest.raises(ArgumentError, match=r"target_size \(height, width\): expected a whole"):
        image.ImageDataGenerator().flow_from_directory(folder, target_size=size)


def test_one_size_counts_for_height_and_width(folder):
    flow = image.ImageDataGenerator().flow_from_directory(folder, target_size=3)
    assert flow.image_shape == (3, 3, 3)
    assert image.load_img(folder / "cats" / "1.png", target_size=3).size == (3, 3)


@pytest.mark.parametrize("names", [["a", "b"], [3, 5]])
def test_classes_of_a_table_can_be_written_as_json(folder, names):
    table = {"filename": ["cats/1.png", "dogs/1.png"], "class": names}
    flow = image.ImageDataGenerator().flow_from_dataframe(table, folder)
    assert json.dumps(flow.class_indices) == json.dumps({names[0]: 0, names[1]: 1})
    assert [type(name) for name in flow.class_indices] == [type(names[0])] * 2
