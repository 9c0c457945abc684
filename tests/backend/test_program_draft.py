"""What a program keeps of its writing, and that a further draft says the same."""

import gc
import linecache
import traceback
import tracemalloc

import numpy as np
import pytest
from zoo import THINNED_ZOO, ZOO

from kerascope import backend as K
from kerascope.backend.program.bound import Bound, Line, Trial, fact_of
from kerascope.backend.program.draft import Draft
from kerascope.backend.program.memory import Memory
from kerascope.backend.program.profiling import made_up_inputs
from kerascope.backend.program.source import Source
from kerascope.layers import Dense
from kerascope.models import Sequential

CALLS = 4


def trained(model):
    model.compile("adam", "mse", metrics=["mae"])
    arrays = [
        np.random.default_rng(i).random((4, *x.shape[1:])).astype(x.dtype)
        for i, x in enumerate([*model.inputs, *model.outputs])
    ]
    n = len(model.inputs)
    for _ in range(CALLS):
        model.train_on_batch(arrays[:n], arrays[n:])
    return model.train_function


@pytest.mark.parametrize("name", THINNED_ZOO)
def test_a_further_draft_says_the_same(name):
    np.random.seed(0)
    program = trained(ZOO[name]()).programs[-1]
    text, size = program.text, program.n_bytes
    assert program.draft().source.text == text
    assert (program.text, program.n_bytes) == (text, size)


def test_training_goes_on_after_a_draft():
    def losses(with_drafts):
        K.clear_session()
        np.random.seed(1)
        model = ZOO[sorted(ZOO)[0]]()
        function = trained(model)
        told = []
        for _ in range(CALLS):
            arrays = made_up_inputs(function.programs[-1])
            told.append([np.asarray(value).tobytes() for value in function(arrays)])
            if with_drafts:
                function.explain()
        return told, [w.tobytes() for w in model.get_weights()]

    assert losses(True) == losses(False)


def deep_model(layers):
    model = Sequential(
        [Dense(8, activation="relu", input_shape=(8,)), *(Dense(8) for _ in range(layers))]
    )
    model.compile("sgd", "mse")
    return model


def test_nothing_of_the_writing_is_kept():
    model = deep_model(2)
    x = np.ones((4, 8), "f4")
    gc.collect()
    kinds = (Bound, Line, Memory, Source, Draft)
    before = {id(one) for one in gc.get_objects() if isinstance(one, kinds)}
    for _ in range(CALLS):
        model.train_on_batch(x, x)
    model.train_function.explain()
    gc.collect()
    assert model.train_function.programs
    after = [one for one in gc.get_objects() if isinstance(one, kinds) and id(one) not in before]
    assert not after


def test_a_program_is_small_beside_its_graph():
    x = np.ones((4, 8), "f4")
    small = deep_model(2)
    for _ in range(CALLS):
        small.train_on_batch(x, x)  # imports what the writing of a program needs
    # What other threads allocate meanwhile is counted, too: the least of three counts.
    assert min(bytes_per_step_of_a_program(x) for _ in range(3)) < 500


def bytes_per_step_of_a_program(x):
    model = deep_model(60)
    model.train_on_batch(x, x)  # makes graph, schedule and the weights' slots
    gc.collect()
    tracemalloc.start()
    try:
        for _ in range(CALLS):
            model.train_on_batch(x, x)
        gc.collect()
        grown = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    program = model.train_function.programs[-1]
    arrays = 4 * sum(map(np.size, model.get_weights())) * 4 + program.n_bytes
    return (grown - arrays) / len(model.train_function.schedule.steps)


def test_what_a_trial_keeps():
    ones, condition = np.ones((2, 3)), np.array(True)
    facts = {1: fact_of(ones), 3: fact_of(np.zeros((2, 3)))}
    trial = Trial([ones, condition], {1: condition}, facts)
    assert trial.facts == facts
    assert trial.facts[1] is trial.facts[3]
    first, second = trial.arrays
    assert (first.shape, first.dtype, first.nbytes) == ((2, 3), np.dtype("f8"), ones.nbytes)
    assert first.strides == (0, 0)
    assert second is condition
    assert Trial([], {}, {}).facts == {}


def test_a_condition_that_is_changed_later_is_still_the_one_of_the_program():
    phase, x = K.placeholder(()), K.placeholder((3,))
    function = K.function([phase, x], [K.switch(phase, K.exp(x), K.square(x))])
    given = np.array(1, "f4")
    for _ in range(CALLS):
        function([given, np.ones(3, "f4")])
    given[()] = 0
    text = function.programs[-1].text
    assert "np.exp(" in text
    assert function.programs[-1].draft().source.text == text


@pytest.mark.filterwarnings("error")
def test_a_draft_computes_constants_as_a_call_does():
    x, tiny, huge = K.placeholder(()), K.constant(1e-30), K.constant(1e30)
    function = K.function([x], [x + tiny * 1e-10, K.relu(x, max_value=1e50), x * (huge * huge)])
    told = []
    for _ in range(CALLS):
        told.append([value.item() for value in function([0.0])])
        if function.programs:
            function.explain()
    assert str(told) == str(told[:1] * CALLS)


def test_lines_are_there_for_who_looks():
    x = K.placeholder((3,))
    function = K.function([x], [K.exp(x) + 1], name="mine")
    for _ in range(CALLS):
        function([np.ones(3)])
    program = function.programs[-1]
    file = program._code.run.__code__.co_filename
    lines = linecache.getlines(file)
    assert len(lines) == len(program.text.splitlines())
    assert "".join(lines) == program.text
    assert lines[1:3] == program.text.splitlines(keepends=True)[1:3]
    linecache.checkcache(file)
    with pytest.raises(ValueError, match="broadcast") as caught:
        program._code.run(np.ones((5,), "f4"))
    assert "np.exp(" in "".join(traceback.format_exception(caught.value))
    del function, program, caught
    gc.collect()
    assert linecache.getlines(file) == []


def test_a_program_may_go_while_somebody_looks_through_the_lines_of_all():
    """Garbage is collected at any moment, so between two entries of linecache.checkcache(), too."""

    def used():
        x = K.placeholder((3,))
        function = K.function([x], [K.exp(x) + 1])
        for _ in range(CALLS):
            function([np.ones(3)])
        return function, function.programs[-1]._code.run.__code__.co_filename

    function, file = used()
    files = list(linecache.cache)
    assert file in files
    del function
    gc.collect()
    for name in files:
        assert len(linecache.cache[name]) == 4
    assert linecache.getlines(file) == []
    linecache.checkcache()
    kept = used()
    assert kept[1] in linecache.cache
    assert file not in linecache.cache
