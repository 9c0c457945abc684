"""Whatever is typed, the prompt survives; whatever a file has lost, its line is told."""

import tempfile
from contextlib import chdir, suppress
from functools import partial

import pytest
from debugger_programs import fit_two_layers, fit_with_nan
from debugger_transcripts import transcript
from holding import holds_for
from hypothesis import strategies as st

from kerascope.cli.commands import main
from kerascope.debugger import front
from kerascope.errors import ConfigError
from kerascope.trace.events import GRAINS
from kerascope.trace.selectors import ACTS, PHASES
from kerascope.trace.tape import trace
from kerascope.trace.tape_store import Tape

LEAVING = ("interact", "restart", "run", "pdb", "EOF", "q", "quit", "exit")
COMMANDS = [name for name in front.COMMANDS.names if name not in LEAVING]
for_some = partial(holds_for, few=25, many=300, derandomize=True)

numbers = st.integers(-3, 400).map(str) | st.sampled_from(["0x1", "1.5", "1e9", "9" * 30, "²", "٣"])
NAMES = """\
a b a@0 b/out a/relu a/kernel out ins e t np K model loss total_loss tensor_map weights grads
x.jsonl x.npz x.svg x.md x.txt . .. *.png term html nan inf dead ratio>0.1 tensors counts user
source history none 1MB off -w end silent
"""
EXPRESSIONS = """\
out out*2 np.zeros_like(out) out[0,0] list(tensor_map) 1/0 [ ) lambda:0 (yield) %1 %*%2
{**tensor_map} model.layers norm(out) __import__ e.deltas 'x'*9999 float('nan')
"""
names = st.sampled_from(NAMES.split())
expressions = st.sampled_from(EXPRESSIONS.split())
prefixes = st.sampled_from(["op", "tensor", "weight", "phase", "event", "layer"])
selectors = st.one_of(
    names,
    st.builds("{}:{}".format, names, st.sampled_from(["ret", "bwd", "fwd", "12", ""])),
    st.builds("{}:{}".format, prefixes, names),
    st.builds("{} {}".format, st.sampled_from(["depth", "batch", "epoch", "phase"]), numbers),
    st.builds(
        "{}, {}".format, names, st.sampled_from(["has_nan(out)", "t > 3", "1/0", "(", "x y"])
    ),
)
words = st.one_of(
    numbers,
    names,
    selectors,
    expressions,
    st.sampled_from(
        [*GRAINS, *PHASES, *ACTS, *COMMANDS, "", "=", "==", "t=3", "t=-1", "\x00", "#"]
    ),
    st.builds("{} = {}".format, names, expressions),
    st.text(st.characters(exclude_characters="/\\~"), max_size=8),  # no path out of the folder
)
lines = st.one_of(
    st.builds("{} {}".format, st.sampled_from(COMMANDS), words),
    st.builds("{} {} {}".format, st.sampled_from(COMMANDS), words, words),
    st.builds("!{}".format, expressions),
    st.builds("{}{}".format, st.sampled_from(COMMANDS), words),
    words,
).filter(lambda line: not line.split() or line.split()[0] not in LEAVING)


def type_all(program, typed):
    """Give random lines to a session in a folder of its own."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        text, session, _ = transcript(program, *(line.replace("\n", " ") for line in typed))
    assert "cannot be shown" not in text
    return session


@for_some(st.lists(lines, min_size=1, max_size=6))
def test_no_line_gets_through_the_prompt_while_a_program_runs(typed):
    session = type_all(fit_two_layers, ["unt forward", *typed])
    assert session.error is None


@for_some(st.lists(lines, min_size=1, max_size=6))
def test_no_line_gets_through_the_prompt_at_the_end(typed):
    session = type_all(fit_two_layers, ["c", "rs 30", *typed])
    assert session.error is None


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    file = tmp_path_factory.mktemp("tape") / "t.jsonl"
    with trace() as tape, pytest.warns(match="became nan"):
        fit_with_nan()
    tape.save(file)
    return file


@for_some(st.lists(lines, min_size=1, max_size=4))
def test_no_line_gets_through_the_prompt_of_a_replay(recorded, typed):
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        commands = [line.replace("\x00", "?") or " " for line in typed]
        options = [f"--command={line}" for line in commands]  # it may begin with a dash
        assert main(["replay", *options, "-c", "q", str(recorded)]) == 0


@for_some(st.data())
def test_a_truncated_tape_is_refused_with_its_line(recorded, data):
    whole = recorded.read_bytes()
    cut = data.draw(st.integers(0, len(whole) - 1))
    file = recorded.with_name("cut.jsonl")
    file.write_bytes(whole[:cut])
    line = whole[:cut].count(b"\n") + (not whole[:cut].endswith(b"\n"))
    with pytest.raises(ConfigError, match=rf"cut\.jsonl, line {max(line, 1)}: "):
        Tape.load(file)


@for_some(st.data())
def test_a_damaged_byte_never_gives_another_kind_of_error(recorded, data):
    whole = bytearray(recorded.read_bytes())
    place = data.draw(st.integers(0, len(whole) - 1))
    whole[place] = data.draw(st.integers(0, 255))
    file = recorded.with_name("damaged.jsonl")
    file.write_bytes(whole)
    arrays = recorded.with_suffix(".npz").read_bytes()
    file.with_suffix(".npz").write_bytes(arrays)
    with suppress(ConfigError):
        Tape.load(file)


def test_the_command_line_tells_the_line_of_a_cut(recorded, capsys):
    file = recorded.with_name("short.jsonl")
    file.write_bytes(b"\n".join(recorded.read_bytes().split(b"\n")[:40]))
    assert main(["replay", str(file)]) == 2
    assert "short.jsonl, line 40: expected " in capsys.readouterr().err
