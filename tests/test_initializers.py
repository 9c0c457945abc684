import numpy as np
import pytest

from kerascope import backend as K
from kerascope import initializers
from kerascope.errors import ArgumentError, ShapeError, UnknownNameError
from kerascope.settings import config

# name in Keras -> does it draw numbers
CLASSES = {
    "Zeros": False,
    "Ones": False,
    "Constant": False,
    "Identity": False,
    "RandomNormal": True,
    "RandomUniform": True,
    "TruncatedNormal": True,
    "VarianceScaling": True,
    "Orthogonal": True,
    "GlorotUniform": True,
    "GlorotNormal": True,
    "HeUniform": True,
    "HeNormal": True,
    "LecunUniform": True,
    "LecunNormal": True,
}
RANDOM = [name for name, draws in CLASSES.items() if draws]
KERAS_1_NAMES = [
    "uniform",
    "lecun_uniform",
    "normal",
    "orthogonal",
    "zero",
    "one",
    "glorot_normal",
    "glorot_uniform",
    "he_normal",
    "he_uniform",
    "identity",
]


@pytest.mark.parametrize("name", CLASSES)
@pytest.mark.parametrize("dtype", [None, "float16", "float64"])
def test_array_has_the_wanted_shape_and_dtype(name, dtype):
    array = initializers.get(name)((4, 8), dtype=dtype)
    assert isinstance(array, np.ndarray)
    assert array.shape == (4, 8)
    assert array.dtype == (dtype or "float32")


@pytest.mark.parametrize("name", KERAS_1_NAMES)
def test_names_of_keras_1_give_an_initializer(name):
    assert initializers.get(name)((5, 5)).shape == (5, 5)


@pytest.mark.parametrize("name", RANDOM)
def test_seed_gives_the_same_array_at_each_call(name):
    initializer = initializers.deserialize({"class_name": name, "config": {"seed": 7}})
    again = initializers.deserialize({"class_name": name, "config": {"seed": 7}})
    other = initializers.deserialize({"class_name": name, "config": {"seed": 8}})
    first = initializer((6, 4))
    assert np.array_equal(first, initializer((6, 4)))
    assert np.array_equal(first, again((6, 4)))
    assert not np.array_equal(first, other((6, 4)))


@pytest.mark.parametrize("name", RANDOM)
def test_without_a_seed_numpys_global_seed_makes_a_script_repeatable(name):
    initializer = initializers.get(name)
    state = np.random.get_state()
    try:
        np.random.seed(3)
        first, second = initializer((6, 4)), initializer((6, 4))
        np.random.seed(3)
        repeated = initializer((6, 4))
    finally:
        np.random.set_state(state)
    assert np.array_equal(first, repeated)
    assert not np.array_equal(first, second)


def test_fixed_values():
    assert initializers.zeros()((2,)).tolist() == [0.0, 0.0]
    assert initializers.ones()((2,)).tolist() == [1.0, 1.0]
    assert initializers.Constant(2.5)((1, 2)).tolist() == [[2.5, 2.5]]
    assert initializers.Constant([1.0, 2.0])((2, 2)).tolist() == [[1.0, 2.0], [1.0, 2.0]]
    assert initializers.Identity(3.0)((2, 2)).tolist() == [[3.0, 0.0], [0.0, 3.0]]


def test_constant_array_is_not_shared_with_the_weight():
    values = np.zeros(2, "float32")
    array = initializers.Constant(values)((2,))
    array += 1
    assert values.tolist() == [0.0, 0.0]


def test_fans_of_dense_and_convolution_kernels():
    assert initializers.compute_fans((20, 64)) == (20, 64)
    assert initializers.compute_fans((5, 16, 32)) == (80, 160)
    assert initializers.compute_fans((3, 3, 16, 32)) == (144, 288)
    assert initializers.compute_fans((2, 3, 3, 4, 8)) == (72, 144)


def test_fans_of_other_shapes_are_the_root_of_their_size():
    assert initializers.compute_fans((9,)) == (3.0, 3.0)
    assert initializers.compute_fans(()) == (1.0, 1.0)


@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (5, 5), (3, 3, 2, 7), (1, 2, 9)])
def test_orthogonal_rows_or_columns_are_orthonormal(shape):
    matrix = initializers.Orthogonal(gain=2.0, seed=0)(shape, "float64").reshape(-1, shape[-1])
    small = matrix if matrix.shape[0] <= matrix.shape[1] else matrix.T
    np.testing.assert_allclose(small @ small.T, 4 * np.eye(len(small)), atol=1e-12)


def test_orthogonal_matrices_of_both_orientations_are_drawn():
    signs = {
        float(np.sign(np.linalg.det(initializers.Orthogonal(seed=seed)((3, 3)))))
        for seed in range(20)
    }
    assert signs == {-1.0, 1.0}


def test_truncated_normal_stays_within_two_deviations():
    values = initializers.TruncatedNormal(mean=1.0, stddev=0.5, seed=0)((20000,))
    assert values.min() >= 0.0
    assert values.max() <= 2.0
    assert values.std() == pytest.approx(0.5 * 0.8796, rel=0.02)


def test_variance_scaling_refuses_what_makes_no_sense():
    with pytest.raises(ArgumentError, match="expected a positive scale, got 0"):
        initializers.VarianceScaling(scale=0)
    with pytest.raises(ArgumentError, match="unknown mode 'fan'. Use one of: 'fan_in'"):
        initializers.VarianceScaling(mode="fan")
    with pytest.raises(ArgumentError, match="unknown distribution 'cauchy'"):
        initializers.VarianceScaling(distribution="cauchy")


@pytest.mark.parametrize(("name", "shape"), [("identity", (3,)), ("orthogonal", (3,))])
def test_matrix_initializers_refuse_vectors(name, shape):
    with pytest.raises(ShapeError, match=r"expected a weight with .*2 axes, got shape \(3,\)"):
        initializers.get(name)(shape)


def test_plain_function_is_an_initializer():
    def my_init(shape, dtype=None):
        return np.full(shape, 7.0, dtype)

    assert initializers.get(my_init) is my_init


def test_variable_accepts_what_an_initializer_returns():
    weight = K.variable(initializers.get("glorot_uniform")((3, 4)))
    assert weight.shape == (3, 4)
    assert weight.dtype == "float32"


def test_keras_2_configuration_of_glorot_uniform_is_read():
    config = {"scale": 1.0, "mode": "fan_avg", "distribution": "uniform", "seed": 5}
    read = initializers.get({"class_name": "VarianceScaling", "config": config})
    assert np.array_equal(read((4, 5)), initializers.glorot_uniform(seed=5)((4, 5)))


def test_unknown_initializer_suggests_the_nearest():
    with pytest.raises(UnknownNameError, match=r"'glorot_unifrom'. Did you mean 'glorot_uniform'?"):
        initializers.get("glorot_unifrom")


def test_floatx_decides_the_dtype(monkeypatch):
    monkeypatch.setattr(config, "floatx", "float64")
    assert initializers.zeros()((2,)).dtype == "float64"
