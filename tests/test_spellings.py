import warnings

import pytest

from kerascope.errors import ArgumentError, SpellingWarning
from kerascope.layers import Dense
from kerascope.settings import config
from kerascope.spellings import DIALECTS, KEYWORDS, QUIET, dialect_options, translate, weight_name


@pytest.fixture
def dialect(monkeypatch):
    def choose(name):
        monkeypatch.setattr(config, "dialect", name)

    choose("2.2")
    return choose


def test_an_old_keyword_is_renamed_with_a_note():
    with pytest.warns(SpellingWarning, match="fit: 'nb_epoch' is Keras 1's word.*'epochs'"):
        assert translate("fit", {"nb_epoch": 3, "verbose": 0}) == {"epochs": 3, "verbose": 0}


def test_todays_keywords_pass_without_a_note():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert translate("fit", {"epochs": 3}) == {"epochs": 3}
        assert translate("nothing known", {"nb_epoch": 3}) == {"nb_epoch": 3}


def test_words_of_keras_3_pass_without_a_note():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert translate("optimizer", {"learning_rate": 0.1}) == {"lr": 0.1}


def test_a_layer_knows_its_own_words_before_those_of_all_layers():
    old = {"init": "zero", "output_dim": 4}
    with pytest.warns(SpellingWarning):
        assert translate("Dense", old, "Layer") == {"kernel_initializer": "zero", "units": 4}
    with pytest.warns(SpellingWarning):
        assert translate("Embedding", {"init": 0}, "Layer") == {"embeddings_initializer": 0}


@pytest.mark.parametrize("order", [("nb_epoch", "epochs"), ("epochs", "nb_epoch")])
@pytest.mark.filterwarnings("ignore::kerascope.errors.SpellingWarning")
def test_both_spellings_of_one_argument_are_refused(order):
    with pytest.raises(ArgumentError, match="fit: 'nb_epoch' and 'epochs' are the same argument"):
        translate("fit", dict.fromkeys(order, 1))


@pytest.mark.parametrize("where", KEYWORDS)
def test_no_table_leads_from_an_old_word_to_another_old_word(where):
    table = KEYWORDS[where]
    assert not set(table.values()) & set(table)


def test_quiet_words_are_in_some_table():
    assert {old for table in KEYWORDS.values() for old in table} >= QUIET


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("1.2", ["dense_1_W", "dense_1_b", "dense_1_running_mean", "dense_1_gamma"]),
        ("2.2", ["dense_1/kernel", "dense_1/bias", "dense_1/moving_mean", "dense_1/gamma"]),
        ("3", ["dense_1/kernel", "dense_1/bias", "dense_1/moving_mean", "dense_1/gamma"]),
    ],
)
def test_names_of_weights_follow_the_dialect(dialect, name, expected):
    dialect(name)
    words = ["kernel", "bias", "moving_mean", "gamma"]
    assert [weight_name("dense_1", word) for word in words] == expected


def test_a_full_name_stays_as_it_is(dialect):
    assert weight_name("dense_1", "dense_1/kernel") == "dense_1/kernel"
    assert weight_name("attention", "attention_output/b") == "attention/attention_output/b"


@pytest.mark.parametrize(("name", "keeps"), [("1.2", False), ("2.2", False), ("3", True)])
def test_whether_the_logs_keep_the_word_for_a_metric_follows_the_dialect(dialect, name, keeps):
    dialect(name)
    assert dialect_options().metrics_keep_words is keeps
    assert dialect_options() is DIALECTS[name]


def test_a_note_names_the_class_that_was_written():
    with pytest.warns(SpellingWarning) as notes:
        Dense(output_dim=3, W_regularizer="l2")
    assert [str(note.message).partition(" is ")[0] for note in notes] == [
        "Dense: 'output_dim'",
        "Dense: 'W_regularizer'",
    ]
