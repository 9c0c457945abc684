from linecache import getline

import numpy as np
import pytest
from recorded import assert_balanced, fit, recorded, regression

from kerascope import backend as K
from kerascope.callbacks import Callback
from kerascope.engine import calling, training_loop
from kerascope.errors import KerascopeError
from kerascope.layers import Dense, Input, Layer
from kerascope.models import Model
from kerascope.stage import observing
from kerascope.trace.recorder import Recorder


class Failing(Layer):
    def call(self, inputs):
        Dense(2)(inputs)
        raise ValueError("not today")


class Stopping(Callback):
    def __init__(self, hook, error):
        super().__init__()
        setattr(self, hook, self._stop)
        self.error = error

    def _stop(self, *_):
        raise self.error


def failed(work, error):
    recorder = Recorder()
    with pytest.raises(type(error)), observing(recorder):
        work()
    recorder.close()
    assert_balanced(recorder.tape)
    return recorder.tape


def test_a_failure_in_the_call_of_a_layer_ends_its_span_with_the_error():
    tape = failed(lambda: Failing(name="f")(Input((3,))), ValueError())
    ended = tape.filter(kind="layer.call", name="f", ph="E")[0]
    assert [(d.name, str(d.value)) for d in ended.deltas] == [("error", "ValueError: not today")]


def test_a_span_that_fails_ends_at_the_line_through_which_the_error_went():
    tape = failed(lambda: Failing(name="f")(Input((3,))), ValueError())
    ended = tape.filter(kind="layer.call", name="f", ph="E")[0].where
    assert "run_body(" in getline(calling.__file__, ended.line)
    error = RuntimeError()
    stopping = [Stopping("on_batch_end", error)]
    model = regression()
    tape = failed(lambda: fit(model, callbacks=stopping), error)
    lines = {e.kind: getline(training_loop.__file__, e.where.line) for e in tape.filter(ph="E")}
    assert all("callbacks.on_batch_end(" in lines[kind] for kind in ("callbacks", "batch", "epoch"))


def test_a_failure_in_a_nested_model_on_numbers_ends_all_spans():
    x = Input((3,))
    inner = Model(x, Dense(2, name="d")(x), name="inner")
    model = Model(x, inner(x))

    def broken(*_):
        raise KeyboardInterrupt

    inner.layers[-1].call = broken
    tape = failed(lambda: model(np.ones((1, 3))), KeyboardInterrupt())
    ended = [e.name for e in tape.filter(ph="E") if any(d.name == "error" for d in e.deltas)]
    assert ended[:3] == ["d", "depth 0", "inner"]


@pytest.mark.parametrize(
    "hook", ["on_train_begin", "on_epoch_begin", "on_batch_begin", "on_batch_end", "on_epoch_end"]
)
@pytest.mark.parametrize("error", [RuntimeError("no"), KeyboardInterrupt()])
def test_a_failure_in_a_callback(hook, error):
    model = regression()
    tape = failed(lambda: fit(model, callbacks=[Stopping(hook, error)]), error)
    assert "error" in tape.names_at(tape.filter(kind="fit", ph="E")[0].t)
    if hook == "on_batch_end":
        assert "error" in tape.names_at(tape.filter(kind="callbacks", ph="E")[-1].t)


def test_an_op_that_fails_is_the_innermost_span_with_an_error():
    x, y = K.placeholder((None,), name="x"), K.placeholder((None,), name="y")
    f = K.function([x, y], [K.exp(x) + y])
    tape = failed(lambda: f([np.ones(2), np.ones(3)]), ValueError())
    told = [(e.kind, e.name, e.ph, "error" in [d.name for d in e.deltas]) for e in tape]
    assert told == [
        ("function", "function", "B", False),
        ("forward", "forward", "B", False),
        ("op", "exp", "B", False),
        ("op", "exp", "E", False),
        ("op", "add", "B", False),
        ("op", "add", "E", True),
        ("forward", "forward", "E", True),
        ("function", "function", "E", True),
    ]


def test_a_call_that_is_refused_at_once():
    x = K.placeholder((None, 2), name="x")
    f = K.function([x], [x + 1.0])
    for wrong in ([np.ones((2, 3))], [], ["text"], "text"):
        with pytest.raises((KerascopeError, ValueError)) as caught:
            f(wrong)
        failed(lambda wrong=wrong: f(wrong), caught.value)


@pytest.mark.parametrize("places", [12, pytest.param(60, marks=pytest.mark.slow)])
def test_a_listener_may_stop_the_program_anywhere(places):
    class Quit(BaseException):
        pass

    def work():
        model = regression()
        fit(model, epochs=1)

    length = len(recorded(work).tape)
    for stop in range(0, length, max(1, length // places)):
        recorder = Recorder()

        def listen(event, stop=stop):
            if event.t == stop:
                raise Quit

        recorder.listeners.append(listen)
        with pytest.raises(Quit), observing(recorder):
            work()
        recorder.close()
        assert_balanced(recorder.tape)
