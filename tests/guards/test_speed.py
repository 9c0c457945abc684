"""The guard of speed: what it concludes from ratios, how it asks, what a checkout answers."""

import json
import random
from pathlib import Path
from statistics import median

import numpy as np
import pytest

import kerascope
from guards.speed import asking, command, worker
from guards.speed.intervals import Ratio, ratio_of

ROOT = Path(__file__).resolve().parents[2]


def ratios(centre: float, scatter: float, seed: int = 0) -> list[list[float]]:
    """Eight pairs of processes with twelve made-up ratios each."""
    lots = random.Random(seed)
    return [[lots.gauss(centre, scatter) for _ in range(12)] for _ in range(8)]


# --- intervals ------------------------------------------------------------------------------------


def test_five_percent_slower_lies_wholly_above_the_limit_though_the_ratios_scatter():
    found = ratio_of(ratios(1.05, 0.03))
    assert found.is_above(1.02)
    assert found.low < found.median < found.high
    assert abs(found.median - 1.05) < 0.01
    assert found.half_width < 0.015
    assert found.count == 96


@pytest.mark.parametrize("seed", range(10))
def test_equal_checkouts_raise_no_alarm(seed):
    found = ratio_of(ratios(1.0, 0.03, seed))
    assert not found.is_above(1.02)
    assert found.low < 1.01
    assert found.high > 0.99


def test_a_process_with_luck_of_its_own_widens_the_interval():
    same = [[1.0, 1.001, 0.999] * 4 for _ in range(8)]
    lucky = [[ratio + luck for ratio in one] for one, luck in zip(same, [0.04, 0] * 4, strict=True)]
    assert ratio_of(lucky).half_width > 5 * ratio_of(same).half_width


def test_the_median_is_that_of_all_ratios_and_pairs_without_any_do_not_count():
    pairs = [[1.0, 1.5], [], [1.2]]
    found = ratio_of(pairs)
    assert (found.median, found.count) == (1.2, 3)
    assert found == ratio_of([pairs[0], pairs[2]])


def test_too_few_ratios_raise_no_alarm_and_are_pointed_out():
    few = {"import": ratio_of([[1.2]] * 5)}
    assert not few["import"].is_above(1.02)
    assert "too few rounds" in command.table(few, 1.02)
    assert "import; up to 20 % could hide there" in command.said(few, 1.02)
    assert ratio_of([[1.2]] * 6).is_above(1.02)


def test_the_same_ratios_give_the_same_interval():
    assert ratio_of(ratios(1.0, 0.1)) == ratio_of(ratios(1.0, 0.1))
    assert ratio_of(ratios(1.0, 0.1)) != ratio_of(ratios(1.0, 0.1, seed=1))


# --- asking ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(("turned", "order"), [(False, [0, 1, 1, 0]), (True, [1, 0, 0, 1])])
def test_four_chunks_cancel_a_machine_that_gets_slower(turned, order):
    asked = []

    def seconds(side: int) -> float:
        asked.append(side)
        return (1.0 + len(asked)) * (1.1 if side == 0 else 1.0)

    assert asking.four(seconds, turned) == pytest.approx(1.1)
    assert asked == order


class Told:
    """A process that answers with made-up seconds."""

    def __init__(self, seconds: float) -> None:
        self.answer = seconds
        self.asked: list[str] = []

    def seconds(self, metric: str) -> float:
        self.asked.append(metric)
        return self.answer


def test_every_pair_has_a_round_though_the_time_is_over():
    pairs = [[Told(2.0), Told(1.0)], [Told(3.0), Told(1.0)]]
    found = asking.asked_in_rounds(["W1.step", "W5.step"], pairs, end=0.0)
    assert found == {"W1.step": [[2.0], [3.0]], "W5.step": [[2.0], [3.0]]}
    assert all(sorted(one.asked) == ["W1.step"] * 2 + ["W5.step"] * 2 for p in pairs for one in p)


def test_what_needs_a_fresh_process_is_asked_less_often(monkeypatch):
    monkeypatch.setattr(asking, "of_fresh", lambda pair, metric, side: 3.0 - side)
    pairs = [[Told(1.0), Told(1.0)] for _ in range(asking.FRESH_EVERY + 1)]
    found = asking.asked_in_rounds(["import", "W1.step"], pairs, end=0.0)
    assert [one for one in found["import"] if one] == [[1.5], [1.5]]
    assert found["W1.step"] == [[1.0]] * len(pairs)


@pytest.mark.process
def test_a_living_checkout_answers_and_a_fresh_one_does_what_is_asked():
    with asking.contextlib.closing(asking.Living(ROOT)) as process:
        asked = [process.ask("W1.predict1", times=times) for times in (1, 200)]
        assert asked[0]["cpu"] > 0
        assert asked[0]["cpu"] < asked[1]["cpu"]
        assert asking.of_fresh([process], "import", 0) > 0
        with pytest.raises(asking.Broken, match="nonsense: a process of .* ended"):
            process.ask("nonsense", times=1)


@pytest.mark.process
def test_a_kerascope_from_elsewhere_is_refused(tmp_path, monkeypatch):
    """An empty folder has none, so Python would take the installed one."""
    monkeypatch.setattr(asking, "variables", lambda: {**asking.os.environ, "PYTHONPATH": str(ROOT)})
    with asking.contextlib.closing(asking.Living(tmp_path)) as process:
        pair = [process]
        with pytest.raises(asking.Broken, match=r"kerascope came from .*; expected"):
            asking.of_fresh(pair, "import", 0)


# --- the worker -----------------------------------------------------------------------------------


def test_a_step_of_a_workload_trains_its_model():
    peers = worker.Peers()
    run = peers.run_of("W1.step")
    net = peers.of("W1").net
    before = net.get_weights()
    run(2)
    assert any(
        not np.array_equal(old, new) for old, new in zip(before, net.get_weights(), strict=True)
    )
    assert len(peers.of("W1").x) <= worker.MOST_ROWS


@pytest.mark.parametrize(("metric", "rows"), [("W1.predict1", 1), ("W1.predict", 32)])
def test_predict_is_asked_for_so_many_rows(metric, rows):
    peers = worker.Peers()
    run = peers.run_of(metric)
    assert [len(array) for array in run(1)] == [rows]


@pytest.mark.parametrize("workload", ["W7", "W9"])
def test_a_chain_goes_from_its_first_layer_to_its_first_step(workload, monkeypatch):
    monkeypatch.setattr(worker, "CHAIN_LAYERS", 6)
    made = []
    monkeypatch.setattr(kerascope.Model, "__init__", counted(kerascope.Model.__init__, made))
    worker.Peers().run_of(workload)(2)
    assert len(made) >= 2


def counted(function, calls):
    """A function that writes down each call first."""

    def call(*args, **kwargs):
        calls.append(args)
        return function(*args, **kwargs)

    return call


def test_the_first_drawing_is_an_svg(monkeypatch):
    drawn = []
    monkeypatch.setattr(kerascope, "draw", counted(kerascope.draw, drawn))
    worker.first_draw(kerascope)
    assert len(drawn) == 1


def test_a_chunk_has_as_many_runs_as_fit_into_its_seconds(monkeypatch):
    now = [0.0]

    def run(times: int) -> None:
        now[0] += 0.002 * times

    monkeypatch.setattr(worker.time, "process_time", lambda: now[0])
    assert worker.prepare(run, 0.05) == 25
    assert worker.timed(run, 25)["cpu"] == pytest.approx(0.05)


# --- the command ----------------------------------------------------------------------------------


def test_without_words_everything_is_asked_for_under_five_minutes():
    found = command.options(["HEAD"])
    assert found.only == list(asking.METRICS)
    assert (found.other, found.limit) == ("HEAD", 1.02)
    assert 0 < found.minutes < 5
    assert command.options(["x", "--only", "W5.step", "import"]).only == ["W5.step", "import"]


@pytest.mark.parametrize("words", [[], ["x", "--only", "W99"], ["x", "--limit", "0"]])
def test_a_wrong_word_ends_with_code_2_and_what_is_known(words, capsys):
    with pytest.raises(SystemExit) as end:
        command.options(words)
    assert end.value.code == 2
    assert "usage:" in capsys.readouterr().err


@pytest.mark.parametrize(("centre", "code"), [(1.05, 1), (1.0, 0), (0.9, 0)])
def test_the_exit_code_says_whether_something_got_slower(
    centre, code, tmp_path, monkeypatch, capsys
):
    made_up = {"W1.step": ratios(centre, 0.005), "W5.step": ratios(1.0, 0.005)}
    asked = []

    def measured(this, other, metrics, minutes):
        asked.append((this.name, other.name, metrics, minutes))
        return made_up

    monkeypatch.setattr(command, "measured", measured)
    monkeypatch.setattr(command, "copied", lambda word, folder, part: folder.mkdir())
    file = tmp_path / "speed.json"
    words = ["x", "--only", "W1.step", "W5.step", "--minutes", "1", "--json", str(file)]
    assert command.main([*words, "--markdown", str(tmp_path / "speed.md")]) == code
    assert asked == [("this-one", "that-one", ["W1.step", "W5.step"], 1.0)]
    assert len("this-one") == len("that-one")
    printed = capsys.readouterr().out
    assert ("SLOWER" in printed) == ("Slower by more than 2 %: W1.step." in printed) == bool(code)
    written = json.loads(file.read_text(encoding="utf-8"))
    assert written["metrics"]["W1.step"]["median"] == pytest.approx(centre, abs=0.01)
    assert written["metrics"]["W1.step"]["median"] == median(
        ratio for one in made_up["W1.step"] for ratio in one
    )
    assert (tmp_path / "speed.md").read_text(encoding="utf-8") in printed + "\n"


def test_a_folder_without_kerascope_and_no_revision_ends_with_code_2(tmp_path, capsys):
    assert command.main([str(tmp_path / "nowhere")]) == 2
    assert "nor a revision" in capsys.readouterr().err


def test_wide_intervals_are_pointed_out():
    found = {"W1.step": Ratio(1.0, 0.99, 1.01, 90), "W5.step": Ratio(1.0, 0.93, 1.06, 9)}
    said = command.said(found, 1.02)
    assert "Known less well than to +-1.5 %: W5.step; up to 6 % could hide there" in said
    assert "Nothing is surely slower by more than 2 %." in said
