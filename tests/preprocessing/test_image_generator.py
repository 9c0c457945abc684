"""ImageDataGenerator on arrays: changes, standardizing, batches, seeds, workers."""

import itertools
import pickle

import numpy as np
import pytest

from kerascope.errors import ArgumentError, DataError, KerascopeWarning
from kerascope.layers import Dense, Flatten
from kerascope.models import Sequential
from kerascope.optimizers import Adam
from kerascope.preprocessing import image
from kerascope.preprocessing.image import ImageDataGenerator, NumpyArrayIterator
from kerascope.utils import OrderedEnqueuer, Sequence

RNG = np.random.default_rng(0)
IMAGES = RNG.uniform(0, 255, (10, 6, 8, 3)).astype("float32")
LABELS = np.arange(10)
EVERYTHING = {
    "rotation_range": 30,
    "width_shift_range": 0.2,
    "height_shift_range": 2,
    "brightness_range": (0.5, 1.5),
    "shear_range": 10.0,
    "zoom_range": 0.3,
    "channel_shift_range": 20.0,
    "horizontal_flip": True,
    "vertical_flip": True,
    "fill_mode": "reflect",
}


@pytest.fixture
def real(keras):
    return keras.src.legacy.preprocessing.image


def in_both_layouts():
    yield IMAGES[0], "channels_last"
    yield np.transpose(IMAGES[0], (2, 0, 1)), "channels_first"


# --- random changes -------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    "arguments",
    [
        EVERYTHING,
        {"rotation_range": 10},
        {"width_shift_range": [-2, 3], "height_shift_range": 0.5},
        {"width_shift_range": 3.0, "zoom_range": (0.5, 0.6)},
        {"horizontal_flip": True},
    ],
    ids=["everything", "turn", "list", "pixels", "flip"],
)
def test_what_is_drawn_is_what_keras_draws(real, arguments, seed):
    for pixels, data_format in in_both_layouts():
        ours = ImageDataGenerator(data_format=data_format, **arguments)
        theirs = real.ImageDataGenerator(data_format=data_format, **arguments)
        drawn = ours.get_random_transform(pixels.shape, seed)
        expected = theirs.get_random_transform(pixels.shape, seed)
        assert drawn.keys() == expected.keys()
        for name, value in expected.items():
            assert drawn[name] == pytest.approx(value), name


def test_drawn_changes_are_applied_one_after_the_other():
    for pixels, data_format in in_both_layouts():
        rows, columns, channels = (0, 1, 2) if data_format == "channels_last" else (1, 2, 0)
        axes = {"row_axis": rows, "col_axis": columns, "channel_axis": channels}
        images = ImageDataGenerator(data_format=data_format, **EVERYTHING)
        drawn = images.get_random_transform(pixels.shape, 3)
        drawn.update(flip_horizontal=True, flip_vertical=True)
        moves = {name: drawn[name] for name in ("theta", "tx", "ty", "shear", "zx", "zy")}
        expected = image.apply_affine_transform(pixels, **moves, **axes, fill_mode="reflect")
        expected = image.apply_channel_shift(expected, drawn["channel_shift_intensity"])
        expected = np.flip(expected, (rows, columns))
        expected = image.apply_brightness_shift(expected, drawn["brightness"])
        np.testing.assert_allclose(images.apply_transform(pixels, drawn), expected)


def test_missing_changes_change_nothing():
    images = ImageDataGenerator()
    np.testing.assert_array_equal(images.apply_transform(IMAGES[0], {}), IMAGES[0])
    flipped = images.apply_transform(IMAGES[0], {"flip_horizontal": True, "flip_vertical": True})
    np.testing.assert_array_equal(flipped, IMAGES[0, ::-1, ::-1])


def test_a_random_transform_repeats_with_its_seed_and_leaves_numpys_generator_alone():
    images = ImageDataGenerator(**EVERYTHING)
    np.random.seed(0)
    first = images.random_transform(IMAGES[0], seed=3)
    untouched = np.random.uniform()
    np.testing.assert_array_equal(images.random_transform(IMAGES[0], seed=3), first)
    np.random.seed(0)
    assert np.random.uniform() == untouched


# --- standardizing --------------------------------------------------------------------------------

STATISTICS = [
    {"featurewise_center": True},
    {"featurewise_center": True, "featurewise_std_normalization": True},
    {"samplewise_center": True, "samplewise_std_normalization": True},
    {"rescale": 1 / 255, "preprocessing_function": lambda x: x + 1},
]


@pytest.mark.parametrize("arguments", STATISTICS, ids=lambda arguments: "-".join(arguments))
@pytest.mark.parametrize("data_format", ["channels_last", "channels_first"])
def test_standardized_images_are_those_of_keras(real, arguments, data_format):
    pixels = IMAGES if data_format == "channels_last" else np.transpose(IMAGES, (0, 3, 1, 2))
    results = []
    for kind in (ImageDataGenerator, real.ImageDataGenerator):
        images = kind(data_format=data_format, **arguments)
        images.fit(pixels.copy())
        results.append(images.standardize(pixels[2].copy()))
    np.testing.assert_allclose(*results, rtol=1e-4, atol=1e-4)


def test_standardized_data_have_mean_0_and_deviation_1():
    images = ImageDataGenerator(featurewise_center=True, featurewise_std_normalization=True)
    images.fit(IMAGES)
    standard = images.standardize(IMAGES)
    np.testing.assert_allclose(standard.mean(axis=(0, 1, 2)), 0, atol=1e-4)
    np.testing.assert_allclose(standard.std(axis=(0, 1, 2)), 1, atol=1e-3)


def test_whitened_pixels_are_uncorrelated():
    few = RNG.normal(size=(200, 2, 3, 1)) @ np.ones((1, 1))
    few[:, 0, 1] += 2 * few[:, 0, 0]
    images = ImageDataGenerator(featurewise_center=True, zca_whitening=True, dtype="float64")
    images.fit(few)
    white = np.array([images.standardize(one) for one in few]).reshape(200, -1)
    np.testing.assert_allclose(white.T @ white / 200, np.eye(6), atol=1e-4)
    assert images.principal_components.shape == (6, 6)


def test_measuring_changed_images_repeats_with_a_seed():
    means = []
    for seed in (1, 1, 2):
        images = ImageDataGenerator(
            featurewise_center=True, zoom_range=0.5, brightness_range=(0, 2)
        )
        images.fit(IMAGES, augment=True, rounds=2, seed=seed)
        means.append(images.mean)
    np.testing.assert_array_equal(means[0], means[1])
    assert not np.array_equal(means[0], means[2])


def test_standardizing_leaves_the_image_alone():
    before = IMAGES[0].copy()
    ImageDataGenerator(rescale=2, samplewise_center=True).standardize(IMAGES[0])
    np.testing.assert_array_equal(IMAGES[0], before)


def test_what_was_not_measured_is_left_out_with_a_warning():
    images = ImageDataGenerator(featurewise_center=True)
    with pytest.warns(KerascopeWarning, match=r"needs statistics .* Call fit\(images\)"):
        np.testing.assert_array_equal(images.standardize(IMAGES[0]), IMAGES[0])


@pytest.mark.parametrize(
    ("arguments", "needed"),
    [
        ({"zca_whitening": True}, "featurewise_center"),
        ({"featurewise_std_normalization": True}, "featurewise_center"),
        ({"samplewise_std_normalization": True}, "samplewise_center"),
    ],
)
def test_what_is_needed_is_switched_on(arguments, needed):
    with pytest.warns(KerascopeWarning, match=f"needs {needed}=True"):
        images = ImageDataGenerator(**arguments)
    assert getattr(images, needed)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"fill_mode": "black"}, "unknown fill_mode 'black'"),
        ({"data_format": "channel_last"}, "Did you mean 'channels_last'"),
        ({"validation_split": 1.5}, "validation_split between 0 and 1, got 1.5"),
        ({"brightness_range": 0.3}, "brightness_range: expected two numbers.*got 0.3"),
        ({"zoom_range": (1, 2, 3)}, "zoom_range: expected two numbers"),
    ],
)
def test_mistakes_are_named(arguments, words):
    with pytest.raises(ArgumentError, match=words):
        ImageDataGenerator(**arguments)


def test_an_image_is_no_batch_and_a_batch_is_no_image():
    images = ImageDataGenerator(featurewise_center=True)
    with pytest.raises(DataError, match="expected 4 axes"):
        images.fit(IMAGES[0])
    with pytest.raises(DataError, match="expected 3 axes"):
        images.random_transform(IMAGES)
    with pytest.raises(DataError, match=r"expected 4 axes .* x\[..., np.newaxis\]"):
        images.flow(IMAGES[..., 0])
    with pytest.warns(KerascopeWarning, match="got 8 .* Is it the other data_format"):
        images.fit(np.transpose(IMAGES, (0, 3, 1, 2)))


# --- batches --------------------------------------------------------------------------------------


def test_batches_in_order_are_the_array():
    batches = ImageDataGenerator().flow(IMAGES, LABELS, batch_size=4, shuffle=False)
    assert isinstance(batches, NumpyArrayIterator)
    assert isinstance(batches, Sequence)
    assert len(batches) == 3
    parts = [batches[index] for index in range(3)]
    np.testing.assert_array_equal(np.concatenate([x for x, _ in parts]), IMAGES)
    np.testing.assert_array_equal(np.concatenate([y for _, y in parts]), LABELS)
    with pytest.raises(IndexError):
        batches[3]


def test_iterating_goes_on_for_ever_and_shuffles_each_pass():
    batches = ImageDataGenerator().flow(IMAGES, LABELS, batch_size=4, seed=1)
    labels = [y for _, y in itertools.islice(batches, 9)]
    passes = [np.concatenate(labels[3 * i : 3 * i + 3]) for i in range(3)]
    for one in passes:
        np.testing.assert_array_equal(np.sort(one), LABELS)
    assert len({tuple(one) for one in passes}) == 3
    assert batches.total_batches_seen == 9


def test_targets_and_weights_and_other_inputs_go_along():
    images = ImageDataGenerator()
    weights = LABELS / 10
    x, y, w = images.flow(IMAGES, LABELS, 4, sample_weight=weights, seed=1)[0]
    np.testing.assert_array_equal(w, y / 10)
    np.testing.assert_array_equal(x, IMAGES[y])
    assert isinstance(images.flow(IMAGES, batch_size=4)[0], np.ndarray)
    (x, other), y = images.flow((IMAGES, [LABELS * 2]), LABELS, 4, seed=1)[1]
    np.testing.assert_array_equal(other, y * 2)
    np.testing.assert_array_equal(x, IMAGES[y])


def test_a_validation_split_parts_the_data():
    images = ImageDataGenerator(validation_split=0.3)
    parts = {
        subset: np.sort(
            np.concatenate(
                [y for _, y in list_of(images.flow(IMAGES, LABELS, batch_size=4, subset=subset))]
            )
        )
        for subset in ("training", "validation")
    }
    np.testing.assert_array_equal(parts["validation"], [0, 1, 2])
    np.testing.assert_array_equal(parts["training"], [3, 4, 5, 6, 7, 8, 9])
    with pytest.raises(ArgumentError, match="got 'test'"):
        images.flow(IMAGES, subset="test")


def list_of(batches):
    return [batches[index] for index in range(len(batches))]


def test_lengths_must_agree():
    with pytest.raises(DataError, match="expected 10 rows in y, got 9"):
        ImageDataGenerator().flow(IMAGES, LABELS[1:])
    with pytest.raises(DataError, match="rows in sample_weight, got 3"):
        ImageDataGenerator().flow(IMAGES, LABELS, sample_weight=[1, 2, 3])
    with pytest.raises(ArgumentError, match="batch_size >= 1 .*got 0"):
        ImageDataGenerator().flow(IMAGES, batch_size=0)


# --- seeds and workers ----------------------------------------------------------------------------


def two_passes(batches):
    first = list_of(batches)
    batches.on_epoch_end()
    return [*first, *list_of(batches)]


def same(first, second):
    return all(
        np.array_equal(a, b)
        for one, other in zip(first, second, strict=True)
        for a, b in zip(one, other, strict=True)
    )


def test_a_seed_makes_everything_repeatable():
    images = ImageDataGenerator(**EVERYTHING)
    runs = [two_passes(images.flow(IMAGES, LABELS, 4, seed=seed)) for seed in (5, 5, 6)]
    assert same(runs[0], runs[1])
    assert not same(runs[0], runs[2])
    assert not same(runs[0][:3], runs[0][3:])


def test_each_pass_changes_an_image_in_another_way():
    batches = ImageDataGenerator(**EVERYTHING).flow(IMAGES, LABELS, 4, shuffle=False, seed=5)
    made = two_passes(batches)
    for (first, labels), (second, same_labels) in zip(made[:3], made[3:], strict=True):
        np.testing.assert_array_equal(labels, same_labels)
        assert not np.array_equal(first, second)


def test_without_a_seed_numpys_decides():
    images = ImageDataGenerator(**EVERYTHING)
    np.random.seed(8)
    first = list_of(images.flow(IMAGES, LABELS, 4))
    np.random.seed(8)
    assert same(first, list_of(images.flow(IMAGES, LABELS, 4)))


@pytest.mark.parametrize("workers", [1, 3])
def test_however_many_threads_make_them_the_images_are_the_same(workers):
    images = ImageDataGenerator(**EVERYTHING)
    expected = two_passes(images.flow(IMAGES, LABELS, 4, seed=5))
    enqueuer = OrderedEnqueuer(images.flow(IMAGES, LABELS, 4, seed=5))
    enqueuer.start(workers=workers, max_queue_size=4)
    try:
        assert same(expected, list(itertools.islice(enqueuer.get(), 6)))
    finally:
        enqueuer.stop()


def test_an_iterator_can_go_to_another_process():
    batches = ImageDataGenerator(**EVERYTHING).flow(IMAGES, LABELS, 4, seed=5)
    copy = pickle.loads(pickle.dumps(batches))
    assert same(list_of(batches), list_of(copy))
    assert len(next(copy)) == 2


@pytest.mark.parametrize("workers", [0, 2])
def test_a_model_learns_from_changed_images(workers):
    dark_and_bright = np.concatenate([IMAGES * 0.2, IMAGES])
    labels = np.repeat([0, 1], 10)
    images = ImageDataGenerator(horizontal_flip=True, rescale=1 / 255)
    model = Sequential([Flatten(input_shape=(6, 8, 3)), Dense(1, activation="sigmoid")])
    model.compile(Adam(lr=0.02), "binary_crossentropy", metrics=["accuracy"])
    flow = images.flow(dark_and_bright, labels, batch_size=5, seed=1)
    history = model.fit_generator(flow, epochs=40, verbose=0, workers=workers)
    assert history.history["acc"][-1] >= 0.9
    assert model.predict_generator(flow, steps=2, workers=workers).shape == (10, 1)


def test_shifts_to_the_left_are_pixels_too():
    images = ImageDataGenerator(width_shift_range=[-3, -2])
    drawn = {images.get_random_transform((9, 9, 1), seed=seed)["ty"] for seed in range(20)}
    assert drawn == {-3.0, -2.0, 2.0, 3.0}


@pytest.mark.parametrize("seed", [-1, 1.5, "1"])
def test_a_seed_that_is_none_is_refused_before_the_first_batch(seed):
    with pytest.raises(ArgumentError, match="expected seed >= 0 .*or None"):
        ImageDataGenerator().flow(IMAGES, seed=seed)


def test_no_images_and_a_number_of_steps_do_not_wait_for_ever():
    model = Sequential([Flatten(input_shape=(6, 8, 3)), Dense(1)])
    model.compile("sgd", "mse")
    flow = ImageDataGenerator().flow(IMAGES[:0], LABELS[:0])
    with pytest.raises(DataError, match="The Sequence is empty"):
        model.fit_generator(flow, steps_per_epoch=3, verbose=0)


def test_nothing_cannot_be_measured():
    images = ImageDataGenerator(featurewise_center=True)
    with pytest.raises(DataError, match="expected at least one image, got none"):
        images.fit(IMAGES[:0])
    assert images.mean is None
