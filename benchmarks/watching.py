"""Measures what it costs to observe a model, with different observers and with none.

    OPENBLAS_NUM_THREADS=1 python benchmarks/watching.py [rounds]

This is one paired run: each round measures every variant once, in processor time. The minimum and
the median of the rounds are printed, with ratios to the previous, simpler variant.
"""

from __future__ import annotations

import gc
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from kerascope import Input, Model
from kerascope.backend.float_settings import with_float_settings
from kerascope.layers import Dense, add
from kerascope.stage import observing
from kerascope.trace.recorder import Recorder
from kerascope.trace.stepper import LiveDriver, Running, Stepper
from kerascope.trace.tape import trace

CALLS = 20  # batches in one measurement
BATCHES_OF_A_LONG_RUN = 1_000


def toy() -> tuple[Any, Any, Any]:
    """Return a small compiled and trained model, and a batch of inputs and targets."""
    x = Input((4,), name="input_1")
    a = Dense(8, activation="relu", name="dense_1")(x)
    b = Dense(8, activation="relu", name="dense_2")(a)
    model = Model(x, Dense(1, name="dense_3")(add([a, b], name="add_1")))
    model.compile("adam", "mse")
    numbers = np.random.default_rng(0)
    inputs = numbers.normal(size=(8, 4)).astype("float32")
    targets = numbers.normal(size=(8, 1)).astype("float32")
    for _ in range(3):  # the program is compiled when the same shapes come again
        model.train_on_batch(inputs, targets)
    return model, inputs, targets


def plain_loop(function: Any, inputs: list[Any]) -> list[Any]:
    """Call a function as an engine without stages would: one loop, no generator, no event."""
    schedule = function.schedule
    values = schedule.start(function._arrays(inputs))
    with np.errstate(all="ignore"):
        for step in schedule.steps:
            result = step.perform(*[values[slot] for slot in step.inputs])
            if len(step.outputs) == 1:
                values[step.outputs[0]] = result
            else:
                for slot, array in zip(step.outputs, result, strict=True):
                    values[slot] = array
            for slot in step.last_uses:
                values[slot] = None
        results = [values[slot] for slot in schedule.results]
        count = len(function.outputs)
        for update, array in zip(function.updates, results[count:], strict=True):
            update.variable.commit(np.asarray(array))
    return results[:count]


def program_alone(function: Any, inputs: list[Any]) -> list[Any]:
    """Run a function's program directly, as an engine without stages would."""
    arrays = function._arrays(inputs)
    return with_float_settings(function.programs[-1], arrays)


def microseconds(work: Callable[[], Any]) -> float:
    """Return the mean processor time of a call of `work`, in microseconds, over `CALLS` calls.

    Garbage of earlier measurements is collected first. The time in which garbage of these calls is
    collected counts.
    """
    gc.collect()
    begun = time.thread_time()
    for _ in range(CALLS):
        work()
    return 1e6 * (time.thread_time() - begun) / CALLS


def recorded(model: Any, work: Callable[[], Any], **options: Any) -> tuple[float, int]:
    """Return the microseconds of a call of `work` with a new recorder, and its number of events."""
    recorder = Recorder(**options)
    recorder.know(model)
    with observing(recorder):
        work()
        before = len(recorder.tape)
        spent = microseconds(work)
        return spent, (len(recorder.tape) - before) // CALLS


def failing_on_nan(model: Any, work: Callable[[], Any]) -> float:
    """Return the microseconds of a call of `work` while a stepper would stop at a NaN."""
    recorder = Recorder()
    recorder.know(model)
    stepper = Stepper(Running(recorder.tape))
    stepper.catches.add("nan")
    recorder.listeners.append(LiveDriver(stepper, lambda stop: Stepper.continue_))
    with observing(recorder):
        work()
        return microseconds(work)


def measure(rounds: int) -> tuple[dict[str, list[float]], int]:
    """Return the times of each way of observing a model, and the number of events in a batch."""
    model, x, y = toy()
    function = model.train_function
    given = [x, y, np.ones(8, "float32"), *[np.float32(1)] * 8][: len(function.inputs)]

    def work() -> Any:
        return function(given)

    ways: dict[str, Callable[[], float]] = {
        "the program alone, no stages": lambda: microseconds(
            lambda: program_alone(function, given)
        ),
        "tracing off": lambda: microseconds(work),
        "a silent observer": lambda: silent(work),
        "the ops in a plain loop": lambda: microseconds(lambda: plain_loop(function, given)),
        "on, statistics only": lambda: recorded(model, work, statistics_only=True)[0],
        "on, with arrays": lambda: recorded(model, work)[0],
        "--fail-on nan": lambda: failing_on_nan(model, work),
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(rounds):
        for name, way in ways.items():
            times[name].append(way())
    return times, recorded(model, work)[1]


def silent(work: Callable[[], Any]) -> float:
    """Return the time of a call of `work` with an observer that does nothing."""
    with observing(lambda stage, event: None):
        return microseconds(work)


def bytes_of_a_record() -> int:
    """Return how many bytes the recorded statistics of a batch take in a tape file."""
    model, x, y = toy()
    with trace(model, level="op", statistics_only=True) as tape:
        model.train_on_batch(x, y)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "batch.jsonl"
        tape.save(path)
        return path.stat().st_size


def memory_of_a_long_run(history: int) -> tuple[int, int, int]:
    """Return the bytes of a long run's tape, how many events it counted, and how many it stores."""
    import tracemalloc

    model, x, y = toy()
    gc.collect()
    tracemalloc.start()
    with trace(model, history=history) as tape:
        for _ in range(BATCHES_OF_A_LONG_RUN):
            model.train_on_batch(x, y)
    gc.collect()
    taken = tracemalloc.get_traced_memory()[0]
    tracemalloc.stop()
    return taken, len(tape), len(list(tape))


def main(arguments: list[str]) -> None:
    """Measure all rounds, and print the times with their ratios."""
    rounds = int(arguments[0]) if arguments else 9
    times, events = measure(rounds)
    off = times["tracing off"]
    silently = min(times["a silent observer"])
    print(
        f"{'a batch of the toy model':<28}{'least, us':>12}{'median, us':>12}{'ratio':>8}", end=""
    )
    print(f"{'us/event':>10}")
    for name, several in times.items():
        ratio = statistics.median(a / b for a, b in zip(several, off, strict=True))
        line = f"{name:<28}{min(several):>12.0f}{statistics.median(several):>12.0f}{ratio:>8.2f}"
        each = (min(several) - silently) / events
        print(line + (f"{each:>10.2f}" if name.startswith(("on", "--")) else ""))
    print(f"\nevents of a batch: {events}; us/event is what is added to a silent observer")
    print(f"a record of a batch, statistics only: {bytes_of_a_record():,} bytes (limit 40,960)")
    history = 16 * 2**20
    taken, told, kept = memory_of_a_long_run(history)
    print(
        f"{BATCHES_OF_A_LONG_RUN:,} batches, history 16MB: {taken:,} bytes taken, "
        f"{taken / history:.2f} of the limit; {kept:,} of {told:,} events kept"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
