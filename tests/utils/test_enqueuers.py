"""Batches made ahead by threads and processes: order, errors, and that nobody is left behind."""

import itertools
import multiprocessing
import os
import random
import signal
import threading
import time

import numpy as np
import pytest
from waiting import wait_until

from kerascope.callbacks import Callback
from kerascope.compat import private_names
from kerascope.engine.workers import ThreadWorker
from kerascope.errors import ArgumentError, DataError, DtypeError, KerascopeWarning, WorkerError
from kerascope.layers import Dense
from kerascope.models import Sequential
from kerascope.settings import config
from kerascope.utils import (
    GeneratorEnqueuer,
    OrderedEnqueuer,
    PyDataset,
    Sequence,
    SequenceEnqueuer,
)
from kerascope.utils.data_utils import get_index, init_pool, init_pool_generator, next_sample

KINDS = [
    pytest.param(False, id="threads"),
    pytest.param(True, id="processes", marks=pytest.mark.process),
]
LONG = 60  # seconds; only what hangs takes so long


class Numbers(Sequence):
    """Ten batches; early ones take longer, and what they hold changes with each pass."""

    def __init__(self, length=10):
        self.length = length
        self.passes = 0

    def __len__(self):
        return self.length

    def __getitem__(self, index):
        time.sleep(0.002 * (self.length - index))
        return 100 * self.passes + index

    def on_epoch_end(self):
        self.passes += 1


class Lasting(Numbers):
    def __getitem__(self, index):
        time.sleep(0.7 if index else 0)
        return index


class Failing(Numbers):
    def __getitem__(self, index):
        if index == 2:
            raise KeyError(f"no file for batch {index}")
        return index


class Stubborn(Numbers):
    def __getitem__(self, index):
        if index == 1:
            time.sleep(600)
        return index


class Dying(Numbers):
    def __getitem__(self, index):
        os._exit(3)


class Unsendable(Numbers):
    def __getitem__(self, index):
        return lambda: index


class OddError(Exception):
    def __init__(self, one, two):
        super().__init__(one)


class Odd(Numbers):
    def __getitem__(self, index):
        raise OddError(1, 2)


def local_class():
    class Local(Numbers):
        pass

    return Local


class Drawing(Numbers):
    """What a batch draws from the global generators, and what it finds in the settings."""

    def __getitem__(self, index):
        return int(np.random.randint(2**31 - 1)), random.random(), repr(config)


class Unreadable(Numbers):
    """It can be written, and not read again: as a class of a notebook in another process."""

    def __reduce__(self):
        return int, ("no number",)


class RandomBatches:
    """An iterator that can be pickled."""

    def __next__(self):
        return int(np.random.randint(2**31 - 1))


@pytest.fixture(autouse=True)
def _nobody_is_left():
    threads, processes = threading.active_count(), multiprocessing.active_children()
    yield
    wait_until(lambda: threading.active_count() <= threads)
    assert multiprocessing.active_children() == processes


@pytest.fixture
def started():
    enqueuers = []

    def start(enqueuer, *args, **kwargs):
        enqueuer.start(*args, **kwargs)
        enqueuers.append(enqueuer)
        return enqueuer.get()

    yield start
    for enqueuer in enqueuers:
        enqueuer.stop()


# --- a Sequence -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("workers", "max_queue_size", "use_multiprocessing"),
    [
        (1, 1, False),
        (3, 10, False),
        (2, 1, False),
        (4, 2, False),
        pytest.param(2, 10, True, marks=pytest.mark.process),
    ],
)
def test_batches_come_in_order_pass_after_pass(
    started, workers, max_queue_size, use_multiprocessing
):
    batches = started(OrderedEnqueuer(Numbers(), use_multiprocessing), workers, max_queue_size)
    expected = [100 * turn + index for turn in range(3) for index in range(10)]
    assert list(itertools.islice(batches, 30)) == expected


def test_shuffled_batches_are_each_pass_all_of_them_and_repeat_with_numpys_seed(started):
    def two_passes():
        np.random.seed(2)
        found = started(OrderedEnqueuer(Numbers(6), shuffle=True), workers=2)
        return list(itertools.islice(found, 12))

    first = two_passes()
    assert sorted(first) == [*range(6), *range(100, 106)]
    assert first != sorted(first)
    assert two_passes() == first


def test_threads_make_batches_at_the_same_time():
    barrier = threading.Barrier(3, timeout=LONG)

    class Together(Numbers):
        def __getitem__(self, index):
            barrier.wait()
            return index

    enqueuer = OrderedEnqueuer(Together(9))
    enqueuer.start(workers=3)
    assert list(itertools.islice(enqueuer.get(), 9)) == list(range(9))
    barrier.abort()
    enqueuer.stop()


def test_no_more_than_the_queue_is_made_ahead():
    made, asked = [], 0

    class Noted(Numbers):
        def __getitem__(self, index):
            made.append((index, asked))
            return index

    enqueuer = OrderedEnqueuer(Noted(50))
    enqueuer.start(workers=2, max_queue_size=4)
    batches = enqueuer.get()
    for number in range(40):
        asked = number + 1
        assert next(batches) == number
        wait_until(lambda number=number: len(made) == number + 4)
    enqueuer.stop()
    assert all(index < asked_then + 3 for index, asked_then in made)


@pytest.mark.parametrize("use_multiprocessing", KINDS)
def test_an_error_of_a_worker_arrives_with_its_place(started, use_multiprocessing):
    batches = started(OrderedEnqueuer(Failing(), use_multiprocessing), workers=2)
    assert [next(batches), next(batches)] == [0, 1]
    with pytest.raises(KeyError, match="no file for batch 2") as caught:
        next(batches)
    (note,) = caught.value.__notes__
    word = "process" if use_multiprocessing else "thread"
    assert note.startswith(f"This happened in a worker {word}, at batch 2 of a Failing:")
    assert "in __getitem__" in note
    assert "test_enqueuers.py" in note


@pytest.mark.parametrize("use_multiprocessing", KINDS)
def test_stopping_ends_workers_that_have_much_to_do(use_multiprocessing):
    """With all that is asked for they would be busy for longer than LONG."""
    enqueuer = OrderedEnqueuer(Lasting(200), use_multiprocessing)
    enqueuer.start(workers=2, max_queue_size=200)
    batches = enqueuer.get()
    next(batches)
    assert enqueuer.is_running()
    start = time.monotonic()
    enqueuer.stop(timeout=10 * LONG)
    assert time.monotonic() - start < LONG
    assert not enqueuer.is_running()
    assert list(itertools.islice(batches, 3)) == []
    enqueuer.stop()


@pytest.mark.process
class Large(Numbers):
    def __getitem__(self, index):
        return np.full(50_000, index)


@pytest.mark.process
@pytest.mark.parametrize("workers", [1, 2])
def test_more_tasks_than_a_pipe_holds_do_not_lock_a_process_and_the_script(started, workers):
    batches = started(OrderedEnqueuer(Large(3000), True), workers, max_queue_size=2000)
    found = []
    asking = threading.Thread(  # if it is locked, the test must end all the same
        target=lambda: found.extend(int(next(batches)[0]) for _ in range(12)), daemon=True
    )
    asking.start()
    asking.join(LONG)
    assert found == [*range(12)]


def test_stopping_ends_a_process_that_is_stuck():
    enqueuer = OrderedEnqueuer(Stubborn(), use_multiprocessing=True)
    enqueuer.start(workers=2)
    assert next(enqueuer.get()) == 0
    start = time.monotonic()
    enqueuer.stop(timeout=10 * LONG)
    assert time.monotonic() - start < LONG


@pytest.mark.process
def test_a_process_that_ends_by_itself_is_told(started):
    batches = started(OrderedEnqueuer(Dying(), use_multiprocessing=True))
    with pytest.raises(WorkerError, match=r"ended by itself \(exit code 3\) .* threads"):
        next(batches)


@pytest.mark.process
@pytest.mark.parametrize(
    ("sequence", "words"),
    [(Unsendable(), "could not be sent from its process"), (Odd(), "OddError: 1")],
)
def test_what_cannot_come_back_from_a_process_is_told(started, sequence, words):
    batches = started(OrderedEnqueuer(sequence, use_multiprocessing=True))
    with pytest.raises(WorkerError, match=words):
        next(batches)


def test_what_cannot_go_to_a_process_is_told_before_one_is_started(starting):
    """Where processes are spawned: a forked one has it already."""
    starting("spawn")
    with pytest.raises(DtypeError, match="generator cannot be sent to another process"):
        GeneratorEnqueuer((i for i in range(3)), use_multiprocessing=True).start()
    for source in (Unpicklable(), [lambda: 1], local_class()()):
        with pytest.raises(DtypeError, match="cannot be sent .* Or use threads: leave"):
            OrderedEnqueuer(source, use_multiprocessing=True).start(workers=2)


def test_an_enqueuer_is_started_once_and_before_it_is_asked():
    enqueuer = OrderedEnqueuer(Numbers())
    with pytest.raises(WorkerError, match=r"Call start\(\) first"):
        enqueuer.get()
    enqueuer.start()
    with pytest.raises(WorkerError, match="it runs already"):
        enqueuer.start()
    enqueuer.stop()
    with pytest.raises(ArgumentError, match="workers: expected a whole number >= 1, got 0"):
        enqueuer.start(workers=0)
    with pytest.raises(ArgumentError, match="max_queue_size: expected .* got -1"):
        enqueuer.start(max_queue_size=-1)
    assert not enqueuer.is_running()
    with pytest.raises(NotImplementedError):
        SequenceEnqueuer(Numbers()).get()


# --- a generator ----------------------------------------------------------------------------------


@pytest.mark.parametrize("workers", [1, 4])
def test_a_generator_keeps_its_order_and_is_asked_by_one_thread(started, workers):
    asking = set()

    def counting():
        for number in range(50):
            asking.add(threading.get_ident())
            time.sleep(0.0005)
            yield number

    assert list(started(GeneratorEnqueuer(counting()), workers=workers)) == list(range(50))
    assert len(asking) == 1
    assert threading.get_ident() not in asking


def test_an_error_of_a_generator_comes_after_its_good_batches(started):
    def failing():
        yield 1
        raise ZeroDivisionError("no more")

    batches = started(GeneratorEnqueuer(failing()))
    assert next(batches) == 1
    with pytest.raises(ZeroDivisionError, match="no more"):
        next(batches)


@pytest.fixture
def starting():
    """Give what a script says of how processes are started, until the test ends."""
    before = multiprocessing.get_start_method(allow_none=True)

    def start_by(method):
        if method not in multiprocessing.get_all_start_methods():
            pytest.skip(f"there is no {method} here")
        multiprocessing.set_start_method(method, force=True)

    yield start_by
    multiprocessing.set_start_method(before, force=True)


@pytest.mark.process
def test_a_plain_generator_works_in_a_process_that_is_forked(starting):
    """As Keras 2.2.4 on Linux: nothing is pickled, and the script needs no guard."""
    starting("fork")
    x, y = np.ones((4, 4)), np.ones((4, 1))

    def batches(fails_at=None):
        for number in itertools.count():
            if number == fails_at:
                raise RuntimeError("boom in the generator")
            yield x * number, y

    arguments = {"use_multiprocessing": True, "workers": 1}
    twins = model(), model()
    twins[1].set_weights(twins[0].get_weights())
    seen = twins[0].fit_generator(batches(), 3, 2, verbose=0, **arguments).history
    assert seen == twins[1].fit_generator(batches(), 3, 2, verbose=0, workers=0).history
    assert twins[0].predict_generator(batches(), steps=2, **arguments).shape == (8, 1)
    with pytest.raises(RuntimeError, match="boom in the generator"):
        twins[0].fit_generator(batches(fails_at=2), 6, verbose=0, **arguments)
    assert not multiprocessing.active_children()


class Unpicklable(Numbers):
    """It changes after each pass, and cannot be sent."""

    def __init__(self):
        super().__init__()
        self.double, self.passes = (lambda x: 2 * x), 0

    def __getitem__(self, index):
        return self.passes, self.double(index)

    def on_epoch_end(self):
        self.passes += 1


@pytest.mark.process
def test_a_sequence_that_cannot_be_pickled_is_forked_again_after_each_pass(started, starting):
    starting("fork")
    batches = started(OrderedEnqueuer(Unpicklable(), use_multiprocessing=True), workers=2)
    count = len(Numbers())
    seen = list(itertools.islice(batches, 2 * count))
    assert seen == [(number // count, 2 * (number % count)) for number in range(2 * count)]


@pytest.mark.process
def test_forked_processes_do_not_draw_the_same_numbers(started, starting):
    starting("fork")
    enqueuer = GeneratorEnqueuer(RandomBatches(), use_multiprocessing=True)
    with pytest.warns(KerascopeWarning, match="the same data may come more than once"):
        batches = started(enqueuer, workers=2)
    first, second = itertools.islice(batches, 2)
    assert first != second


@pytest.mark.process
@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_each_process_of_an_iterator_has_its_own_seed(started, starting, method):
    starting(method)
    enqueuer = GeneratorEnqueuer(RandomBatches(), use_multiprocessing=True, random_seed=4)
    with pytest.warns(KerascopeWarning, match="the same data may come more than once"):
        batches = started(enqueuer, workers=2)
    drawn = list(itertools.islice(batches, 4))
    first, second = np.random.RandomState(4), np.random.RandomState(5)
    assert drawn == [generator.randint(2**31 - 1) for generator in [first, second, first, second]]


def test_what_has_a_length_too_is_read_one_by_one(started):
    assert list(itertools.islice(started(GeneratorEnqueuer([5, 6, 7])), 5)) == [5, 6, 7]


def test_a_pool_of_ones_own_finds_what_it_was_given():
    init_pool({3: Numbers()})
    assert get_index(3, 4) == 4
    init_pool_generator({0: iter("ab")}, random_seed=1)
    first = np.random.randint(1000)
    assert next_sample(0) == "a"
    init_pool_generator({0: iter("ab")}, random_seed=1)
    assert np.random.randint(1000) == first


# --- processes that are spawned; whole scripts are in test_spawned.py -----------------------------

METHODS = [pytest.param(method, marks=pytest.mark.process) for method in ("fork", "spawn")]


@pytest.mark.parametrize("method", METHODS)
def test_a_process_has_seeds_and_settings_of_the_script(started, starting, monkeypatch, method):
    """The first draws on as the script would; the second what no other draws."""
    starting(method)
    monkeypatch.setattr(config, "floatx", "float64")
    monkeypatch.setattr(config, "dialect", "3")
    np.random.seed(3)
    random.seed(4)
    batches = started(OrderedEnqueuer(Drawing(4), use_multiprocessing=True), workers=2)
    drawn = list(itertools.islice(batches, 4))
    np.random.seed(3)
    random.seed(4)
    assert drawn[::2] == [Drawing()[0], Drawing()[2]]
    second, other = np.random.RandomState(3), random.Random(4)
    second = np.random.RandomState(second.randint(2**31) + 1)
    other = random.Random(other.getrandbits(64) + 1)
    expected = [(second.randint(2**31 - 1), other.random(), repr(config)) for _ in range(2)]
    assert drawn[1::2] == expected


class DrawingUnsent(Drawing):
    def __init__(self):
        super().__init__(1)
        self.unsent = lambda: 1


@pytest.mark.process
def test_processes_that_are_forked_again_draw_other_numbers_than_before(started, starting):
    starting("fork")
    batches = started(OrderedEnqueuer(DrawingUnsent(), use_multiprocessing=True))
    assert len(set(itertools.islice(batches, 3))) == 3


@pytest.mark.process
def test_a_source_that_a_spawned_process_cannot_read_is_told(started, starting):
    starting("spawn")
    batches = started(OrderedEnqueuer(Unreadable(), use_multiprocessing=True))
    with pytest.raises(WorkerError, match="cannot be read in its process .ValueError: .* threads"):
        next(batches)


def test_if_not_all_processes_can_be_started_none_is_left(starting, monkeypatch):
    starting("fork")
    start, begun = multiprocessing.context.ForkProcess.start, []

    def start_one(process):
        if begun:
            raise BlockingIOError("too many processes")
        begun.append(process)
        start(process)

    monkeypatch.setattr(multiprocessing.context.ForkProcess, "start", start_one)
    with pytest.raises(BlockingIOError, match="too many processes"):
        OrderedEnqueuer(Numbers(), use_multiprocessing=True).start(workers=2)
    assert len(begun) == 1
    assert not multiprocessing.active_children()


# --- training -------------------------------------------------------------------------------------

X = np.random.default_rng(0).normal(size=(50, 4)).astype("float32")
Y = X.sum(axis=1, keepdims=True)


class Batches(Sequence):
    def __init__(self):
        self.order = np.arange(50)
        self.ended = 0

    def __len__(self):
        return 5

    def __getitem__(self, index):
        rows = self.order[10 * index : 10 * index + 10]
        return X[rows], Y[rows]

    def on_epoch_end(self):
        self.ended += 1
        self.order = np.random.default_rng(self.ended).permutation(50)


def model():
    made = Sequential([Dense(1, input_shape=(4,), kernel_initializer="zeros")])
    made.compile("sgd", "mse")
    return made


def endless():
    while True:
        for index in range(5):
            yield X[10 * index : 10 * index + 10], Y[10 * index : 10 * index + 10]


HANDS = [
    {"workers": 0},
    {"workers": 1},
    {"workers": 3, "max_queue_size": 2},
    pytest.param({"workers": 2, "use_multiprocessing": True}, marks=pytest.mark.process),
]


def trained(source, **arguments):
    np.random.seed(6)
    one = model()
    steps = None if hasattr(source, "__len__") else 5
    one.fit_generator(source, steps, epochs=3, verbose=0, **arguments)
    return one.get_weights()[0]


@pytest.mark.parametrize("hands", HANDS, ids=str)
def test_a_run_is_the_same_whoever_makes_the_batches(hands):
    batches = Batches()
    weights = trained(batches, **hands)
    assert batches.ended == 3
    np.testing.assert_array_equal(weights, trained(Batches()))
    if not hands.get("use_multiprocessing"):
        np.testing.assert_array_equal(trained(endless(), **hands), trained(endless()))


@pytest.mark.parametrize("hands", HANDS[:3], ids=str)
def test_evaluating_predicting_and_validating_take_workers_too(hands):
    one = model()
    expected = one.evaluate(X, Y, verbose=0)
    assert one.evaluate_generator(Batches(), **hands) == pytest.approx(expected, rel=1e-5)
    assert one.evaluate_generator(endless(), 5, **hands) == pytest.approx(expected, rel=1e-5)
    np.testing.assert_allclose(one.predict_generator(Batches(), **hands), one.predict(X), rtol=1e-5)
    history = one.fit_generator(endless(), 5, validation_data=Batches(), verbose=0, **hands)
    assert history.history["val_loss"][0] == pytest.approx(one.evaluate(X, Y, verbose=0), rel=1e-5)


def test_workers_are_ended_when_training_fails_or_stops_in_the_middle():
    def breaking():
        yield X, Y
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="the disk is gone"):
        model().fit_generator(breaking(), 5, verbose=0, workers=1)
    with pytest.raises(DataError, match="ended after 2 of 5 batches"):
        model().fit_generator(((X, Y) for _ in range(2)), 5, verbose=0, workers=1)
    stage = model().fit_generator_stage(endless(), 5, verbose=0, workers=1)
    for _ in range(6):
        next(iter(stage))
    stage._events.close()


def test_unless_workers_are_asked_for_batches_are_made_here():
    asking = []

    def noting():
        for batch in endless():
            asking.append(threading.current_thread())
            yield batch

    model().fit_generator(noting(), 5, verbose=0)
    assert asking == [threading.main_thread()] * 5
    asking.clear()
    model().fit_generator(noting(), 5, verbose=0, workers=1)
    assert threading.main_thread() not in asking


def test_a_sequence_may_ask_for_workers_itself_as_in_keras_3():
    class Asking(PyDataset):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            self.threads = set()

        def __len__(self):
            return 5

        def __getitem__(self, index):
            self.threads.add(threading.current_thread())
            return X[:10], Y[:10]

    for asked, from_main in (({}, True), ({"workers": 2}, False)):
        source = Asking(**asked)
        model().fit(source, verbose=0)
        assert (source.threads == {threading.main_thread()}) == from_main
    source = Asking(workers=3)
    model().fit(source, verbose=0, workers=0)
    assert source.threads == {threading.main_thread()}


@pytest.mark.process
def test_a_sequence_may_ask_for_one_process_as_in_keras_3():
    """Workers are 1 unless it says more; that one is a process, as in Keras 3."""
    one = model()
    one.set_weights([np.array([[1.0], [0], [0], [0]]), np.zeros(1)])
    source = Where(use_multiprocessing=True)
    assert one.predict(Where())[0, 0] == os.getpid()
    assert one.predict(source)[0, 0] not in (0, os.getpid())
    assert one.predict_generator(source, workers=0)[0, 0] == os.getpid()


@pytest.mark.parametrize("workers", [1, 2])
def test_a_sequence_hears_that_a_pass_begins(workers):
    class Hearing(Asked):
        def on_epoch_begin(self):
            self.events.append("begin")

    source = Hearing()
    assert source.num_batches == 3
    model().fit(source, epochs=2, verbose=0, shuffle=False, workers=workers, max_queue_size=1)
    assert source.events == ["begin", 0, 1, 2, "end"] * 2


@pytest.mark.parametrize("callbacks", [None, [Callback()]])
def test_arrays_may_be_validated_on_batches_that_somebody_makes(callbacks):
    def history(data, **options):
        one = model()
        arguments = {"epochs": 2, "shuffle": False, "verbose": 0, "callbacks": callbacks}
        seen = one.fit(X, Y, validation_data=data, **arguments, **options).history
        return [seen["loss"], seen["val_loss"]]

    expected = history((X, Y))
    np.testing.assert_allclose(history(Batches()), expected, rtol=1e-5)
    np.testing.assert_allclose(history(endless(), validation_steps=5), expected, rtol=1e-5)
    with pytest.raises(DataError, match="The generator ended after 0 of 5 batches"):
        history(iter([]), validation_steps=5)


def test_a_bad_number_of_workers_is_refused_before_training():
    with pytest.raises(ArgumentError, match="workers: expected a whole number >= 0, got -1"):
        model().fit_generator(Batches(), verbose=0, workers=-1)


def test_evaluate_and_predict_take_batches_as_fit_does():
    one = model()
    expected = one.evaluate(X, Y, verbose=0)
    assert one.evaluate(Batches(), verbose=0) == pytest.approx(expected, rel=1e-5)
    assert one.evaluate(endless(), steps=5, verbose=0) == pytest.approx(expected, rel=1e-5)
    np.testing.assert_allclose(one.predict(Batches()), one.predict(X), rtol=1e-5)
    np.testing.assert_allclose(one.predict(endless(), steps=5), one.predict(X), rtol=1e-5)


def test_the_three_functions_of_keras_are_here():
    one = model()
    history = private_names.fit_generator(one, Batches(), verbose=0)
    assert len(history.history["loss"]) == 1
    loss = private_names.evaluate_generator(one, Batches())
    assert loss == pytest.approx(one.evaluate(X, Y, verbose=0), rel=1e-5)
    assert private_names.predict_generator(one, Batches()).shape == (50, 1)


class Where(PyDataset):
    """Batches that say which process made them, to a model that adds nothing to it."""

    def __len__(self):
        return 1

    def __getitem__(self, index):
        return np.full((1, 4), float(os.getpid()))


class Asked(Sequence):
    def __init__(self):
        self.events = []

    def __len__(self):
        return 3

    def __getitem__(self, index):
        self.events.append(index)
        return X[:10], Y[:10]

    def on_epoch_end(self):
        self.events.append("end")


@pytest.mark.parametrize("workers", [0, 1])
@pytest.mark.parametrize(
    ("steps", "epochs", "events"),
    [
        (2, 3, [0, 1, 2, "end", 0, 1, 2, "end"]),
        (4, 2, [0, 1, 2, "end", 0, 1, 2, "end", 0, 1]),
        (3, 2, [0, 1, 2, "end", 0, 1, 2, "end"]),
    ],
)
def test_epochs_of_other_lengths_still_read_every_batch(steps, epochs, events, workers):
    source = Asked()
    arguments = {"shuffle": False, "verbose": 0, "workers": workers}
    model().fit_generator(source, steps_per_epoch=steps, epochs=epochs, **arguments)
    assert source.events == events


# --- sources that end, or have nothing ------------------------------------------------------------


class Emptied(Asked):
    """Three batches in the first pass, none in the second."""

    length = 3

    def __len__(self):
        return self.length

    def on_epoch_end(self):
        self.length = 0


@pytest.mark.parametrize("workers", [0, 2])
def test_a_sequence_without_batches_is_an_error_not_an_endless_search(workers):
    empty = Emptied()
    empty.length = 0
    with pytest.raises(DataError, match="expected at least one batch, got a Emptied of length 0"):
        model().fit_generator(empty, steps_per_epoch=2, verbose=0, workers=workers)
    with pytest.raises(DataError, match="The Sequence is empty"):
        model().fit_generator(Emptied(), epochs=2, verbose=0, workers=workers)


def test_an_enqueuer_of_an_empty_sequence_says_so(started):
    batches = started(OrderedEnqueuer(Numbers(0)))
    with pytest.raises(DataError, match="The Sequence is empty"):
        next(batches)


class Exhausted(Asked):
    def __getitem__(self, index):
        return next(iter([])) if index == 1 else super().__getitem__(index)


@pytest.mark.parametrize("workers", [0, 2])
def test_a_sequence_that_runs_out_is_an_error_not_a_shorter_epoch(workers):
    with pytest.raises(RuntimeError, match="StopIteration"):
        model().fit_generator(Exhausted(), verbose=0, workers=workers, shuffle=False)


@pytest.mark.parametrize("workers", [0, 1])
def test_a_generator_that_ends_between_epochs_gets_advice_that_can_be_followed(workers):
    five = itertools.islice(endless(), 5)
    with pytest.raises(DataError, match="after 0 of 5 batches .* with `while True:`\\.$"):
        model().fit_generator(five, steps_per_epoch=5, epochs=2, verbose=0, workers=workers)


@pytest.mark.parametrize("method", ["fit_generator", "predict_generator"])
def test_a_model_that_looks_for_its_shape_in_an_empty_source_says_so(method):
    call = getattr(unbuilt(), method)
    with pytest.raises(DataError, match="expected at least one batch, got none"):
        call(iter([]), 1)
    with pytest.raises(DataError, match="The Sequence is empty"):
        call(Numbers(0), 1)
    with pytest.raises(DtypeError, match=r"a Sequence, got function. Call it"):
        call(endless, 1)
    with pytest.raises(DtypeError, match="Expected a generator, .* got int"):
        getattr(model(), method)(3, 1)


def unbuilt():
    made = Sequential([Dense(1)])
    made.compile("sgd", "mse")
    return made


# --- processes ------------------------------------------------------------------------------------


class Pickled(Batches):
    """Counts how often it is sent to processes."""

    times = 0

    def __getstate__(self):
        Pickled.times += 1
        return vars(self)


@pytest.mark.process
def test_a_sequence_is_made_into_bytes_once_for_each_pass():
    Pickled.times = 0
    arguments = {"workers": 1, "use_multiprocessing": True, "verbose": 0}
    model().fit_generator(Pickled(), epochs=3, **arguments)
    assert Pickled.times == 4  # and once before the first


@pytest.mark.process
def test_ctrl_c_leaves_worker_processes_to_the_one_that_started_them(started):
    batches = started(OrderedEnqueuer(Numbers(), use_multiprocessing=True), 1, 1)
    assert next(batches) == 0
    (process,) = multiprocessing.active_children()
    os.kill(process.pid, signal.SIGINT)
    assert next(batches) == 1


def test_threads_are_stopped_together_not_one_after_the_other(monkeypatch):
    """Each finishes the batch that it is making, while the others finish theirs."""
    told, begun, in_time = [], [], []
    all_are_stopped = threading.Event()
    stop, join = ThreadWorker.stop, threading.Thread.join

    class Held(Numbers):
        """Its batches after the first are not done before all workers have been told to stop."""

        def __getitem__(self, index):
            if index:
                begun.append(index)
                in_time.append(all_are_stopped.wait(LONG))
            return index

    def note_stop(worker):
        stop(worker)
        told.append("stop")
        if told.count("stop") == 4:
            all_are_stopped.set()

    def note_join(thread, *arguments):
        told.append("join")
        join(thread, *arguments)

    enqueuer = OrderedEnqueuer(Held(20))
    enqueuer.start(workers=4, max_queue_size=20)
    next(enqueuer.get())
    wait_until(lambda: len(begun) == 4)
    with monkeypatch.context() as patched:
        patched.setattr(ThreadWorker, "stop", note_stop)
        patched.setattr(threading.Thread, "join", note_join)
        enqueuer.stop()
    assert told == ["stop"] * 4 + ["join"] * 4
    wait_until(lambda: len(in_time) == len(begun))
    assert in_time == [True] * 4
