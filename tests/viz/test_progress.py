"""The bar of a terminal, drawn on a console that writes into a string."""

import io
import re

import pytest
from rich.console import Console

from kerascope.callbacks import Progress
from kerascope.callbacks.progress import progress_lines
from kerascope.viz import progress as progress_module
from kerascope.viz.progress import TerminalProgress, bar, show_message, show_progress

CONTROL_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Screen:
    """A console of 80 columns with a clock that moves only when told."""

    def __init__(self, width=80, encoding="utf-8"):
        self.raw = io.TextIOWrapper(io.BytesIO(), encoding=encoding, newline="")
        self.console = Console(
            force_terminal=True, file=self.raw, width=width, color_system="standard"
        )
        self.seconds = 0.0
        self.draw = TerminalProgress(self.console, clock=lambda: self.seconds)

    def at(self, seconds, moment, seen, logs=None, target=100, **options):
        self.seconds = seconds
        self.draw(Progress(moment, seen, target, logs or {}, **options))

    @property
    def text(self):
        self.raw.flush()
        return CONTROL_CODES.sub("", self.raw.buffer.getvalue().decode(self.raw.encoding))

    @property
    def drawings(self):
        return self.text.count("\r")

    @property
    def visible(self):
        """What stands on the screen: of each line what was drawn last."""
        return [line.rpartition("\r")[2] for line in self.text.split("\n")]


def test_the_last_line_stays_with_the_final_figures_and_the_time():
    screen = Screen()
    screen.at(0, "started", 0, epoch=1, epochs=10)
    screen.at(1, "running", 50, {"loss": 2.0}, epoch=1, epochs=10)
    screen.at(2.5, "finished", 100, {"loss": 1.0, "val_loss": 3.0}, epoch=1, epochs=10)
    assert screen.visible == [
        "Epoch 1/10",
        "100/100  " + "━" * 30 + "  2.5s  loss 1.0000  val_loss 3.0000",
        "",
    ]


def test_a_running_bar_shows_its_share_and_how_long_it_will_take():
    screen = Screen()
    screen.at(0, "started", 0)
    screen.at(2, "running", 20, {"loss": 2.0})
    assert screen.visible == [" 20/100  " + "━" * 6 + "─" * 24 + "  8.0s left  loss 2.0000"]


def test_it_is_redrawn_at_most_ten_times_a_second():
    screen = Screen()
    screen.at(0, "started", 0)
    for step in range(1, 1000):
        screen.at(step / 1000, "running", step, target=1000)
    assert 8 <= screen.drawings <= 10


def test_a_longer_interval_is_respected():
    screen = Screen()
    screen.at(0, "started", 0)
    for step in range(1, 1000):
        screen.at(step / 1000, "running", step, target=1000, interval=0.4)
    assert screen.drawings == 2


def test_a_running_line_never_wraps_and_the_final_one_is_whole():
    logs = {f"output_{index}_loss": 1.0 for index in range(8)}
    screen = Screen()
    screen.at(0, "started", 0)
    screen.at(1, "running", 50, logs)
    assert len(screen.visible[0]) <= 79
    assert screen.visible[0].endswith("  output_0_loss 1.0000 …")
    screen.at(2, "finished", 100, logs)
    assert "output_7_loss 1.0000" in screen.text


@pytest.mark.parametrize("width", [30, 50, 79, 80, 81, 100, 200])
def test_no_name_and_no_figure_is_torn_at_the_end_of_a_line(width):
    logs = {f"val_output_{index}_loss": 1.25 for index in range(8)}
    screen = Screen(width=width)
    screen.at(0, "started", 0)
    screen.at(1, "running", 50, logs)
    screen.at(2, "finished", 100, logs)
    assert max(map(len, screen.visible)) < width
    figures = re.findall(r"val_output_\d_loss 1\.2500", "\n".join(screen.visible))
    assert figures == [f"{name} 1.2500" for name in logs]


def test_a_console_without_unicode_gets_a_bar_that_it_can_write():
    screen = Screen(encoding="ascii")
    screen.at(0, "started", 0)
    screen.at(1, "running", 50)
    assert "=" * 15 + "." * 15 in screen.visible[0]


def test_an_ellipsis_is_not_written_where_it_cannot_be():
    screen = Screen(encoding="ascii", width=30)
    screen.at(0, "started", 0)
    screen.at(1, "running", 50, {"loss": 1.0})
    assert screen.visible[0] == " 50/100  =====..... ..."


def test_plain_lines_in_a_terminal_break_between_figures(monkeypatch):
    terminal = Terminal()
    monkeypatch.setattr("sys.stdout", terminal)
    monkeypatch.setenv("COLUMNS", "40")
    logs = {"loss": 1.0, "val_loss": 2.0, "val_acc": 3.0}
    progress_lines(Progress("finished", 4, 4, logs))
    assert terminal.getvalue() == "4/4 - loss: 1.0000 - val_loss: 2.0000\nval_acc: 3.0000\n"


def test_without_a_target_there_is_a_count_and_no_bar():
    screen = Screen()
    screen.at(0, "started", 0, target=None)
    screen.at(2, "running", 7, target=None)
    assert screen.visible == ["7  2.0s"]


def test_a_bar_after_one_that_was_cut_off_starts_on_a_new_line():
    screen = Screen()
    screen.at(0, "started", 0, epoch=1, epochs=2)
    screen.at(1, "running", 50, epoch=1, epochs=2)
    screen.at(2, "started", 0, epoch=1, epochs=5)
    assert screen.visible[-2] == "Epoch 1/5"
    assert screen.visible[1].startswith(" 50/100")


@pytest.mark.parametrize(("seen", "filled"), [(0, 0), (1, 0), (99, 9), (100, 10), (130, 10)])
def test_the_bar_is_full_only_at_its_target(seen, filled):
    text = str(bar(Progress("running", seen, 100, width=10)))
    assert text == "━" * filled + "─" * (10 - filled)


def test_in_a_pipe_there_are_plain_lines(capsys):
    show_progress(Progress("started", 0, 4, epoch=1, epochs=1))
    show_progress(Progress("running", 2, 4, {"loss": 3.0}, epoch=1, epochs=1))
    show_progress(Progress("finished", 4, 4, {"loss": 2.0}, epoch=1, epochs=1))
    assert capsys.readouterr().out == "Epoch 1/1\n4/4 - loss: 2.0000\n"


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_in_a_terminal_there_is_a_bar_and_a_message_gets_its_own_line(monkeypatch):
    screen = Screen()
    monkeypatch.setattr(progress_module, "_terminal", screen.draw)
    monkeypatch.setattr("sys.stdout", Terminal())
    show_progress(Progress("started", 0, 4))
    screen.seconds = 1.0
    show_progress(Progress("running", 2, 4))
    show_message("Batch 2: the loss is nan; training ends.")
    assert screen.text.endswith("1.0s left\n")
    assert progress_module.sys.stdout.getvalue().startswith("Batch 2")
