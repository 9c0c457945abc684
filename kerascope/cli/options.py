"""What can be typed after each command of `kerascope`: its options, its help, its own words.

A script's words are its own: behind the name of a function `split_*_words` stands which of them are
ours. `commands.py` has the table of the commands.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from kerascope.cli.usage import Parser, exit_codes
from kerascope.viz.formats import FORMATS, OF_TENSORS

# --- kerascope run and kerascope trace ------------------------------------------------------------


RUN_EXAMPLES = f"""\
`import keras`, `from tensorflow import keras` and the paths of Keras 1, 2 and 3 find kerascope; a
Keras that is installed is not touched. Options stand before the script; what follows it is its own:
  kerascope run train.py data.csv --epochs 3
  kerascope run -m package.train data.csv       a module, as in `python -m`
  kerascope run --dialect 1.2 old_script.py
  kerascope run --dialect 3 new_script.py
  kerascope run --live --tape run.jsonl train.py  with its own PyTorch or Keras, watched for NaN

{exit_codes()}
"""
TRACE_EXAMPLES = f"""\
Options stand before the script or after it; what follows `--` belongs to the script alone:
  kerascope trace --batches 2 train.py data.csv
  kerascope trace train.py -- --batches 100
  kerascope trace --live train.py                what a script's own PyTorch or Keras does

formats: text; md (Markdown) and jsonl (a JSON object a line), for which the script's own output
goes to standard error

{exit_codes()}
"""


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be typed after `kerascope run`."""
    parser.add_argument("script", metavar="script.py [argument ...]")
    _add_module(parser)
    _add_live(parser)
    parser.add_argument(
        "--tape", metavar="FILE", help="with --live: write a tape for kerascope replay, run.jsonl"
    )


def _add_live(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--live", action="store_true",
        help="the script's own torch or keras runs, and is watched: batches, layers, NaN",
    )  # fmt: skip


def add_trace_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be typed after `kerascope trace`."""
    parser.add_argument("script", metavar="script.py [argument ...]")
    parser.add_argument(
        "--level", choices=("node", "op"), default="node",
        help="node: a line for each layer (default); op: also one for each op",
    )  # fmt: skip
    parser.add_argument("--format", choices=("text", "md", "jsonl"), default="text")
    parser.add_argument(
        "--batches", type=_at_least(0), default=1, metavar="N",
        help="how many batches of each train function are shown in full (default 1); epochs and "
        "batches count from 0",
    )  # fmt: skip
    _add_live(parser)


# --- kerascope play -------------------------------------------------------------------------------


PLAY_EXAMPLES = f"""\
One HTML file that asks for nothing else: the graph with what flows through it, a time line, each
step in a sentence, source and names. Options stand before the script or after it; what follows
`--` belongs to the script alone:
  kerascope play train.py                          writes train.html
  kerascope play train.py -o page.html data.csv
  kerascope play train.py -o step.svg              a picture that moves, without a script
  kerascope play train.py -o step.strip.svg        still pictures side by side, for a slide
  kerascope play --level op --batches 2 train.py

A tape is played as it was recorded, and of the file of a model one forward pass:
  kerascope play t.jsonl
  kerascope play model.keras --input x.npy         without it on random numbers
  kerascope play model.onnx -o pass.html

{exit_codes()}
"""


def add_play_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be typed after `kerascope play`."""
    parser.add_argument(
        "script", metavar="script.py [argument ...]", help="or a tape, or the file of a model"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE",
        help="the page (default: script.html), a picture that moves (step.svg), or still pictures "
        "side by side (step.strip.svg)",
    )  # fmt: skip
    parser.add_argument(
        "--level", choices=("detail", "op", "node", "phase", "act"), default=None,
        help="the finest grain that is shown (default: as fine as a page can hold)",
    )  # fmt: skip
    parser.add_argument(
        "--batches", type=_at_least(1), default=1, metavar="N",
        help="how many training steps of each model are played (default 1)",
    )  # fmt: skip
    parser.add_argument(
        "--input", metavar="FILE",
        help="arrays for the inputs of a model in a file (.npy, .npz); without it random numbers",
    )  # fmt: skip
    parser.add_argument(
        "--seed", type=_at_least(0), default=0, metavar="N", help="of the random numbers"
    )
    _add_reading(parser)


# --- kerascope debug and kerascope replay ---------------------------------------------------------


DEBUG_CODES = {2: "or what --until names never happened", 3: "what --fail-on names was found"}
REPLAY_CODES = {
    2: "or what --until names never happened",
    4: "--against: the script computes something else than what was recorded",
}
DEBUG_EXAMPLES = f"""\
As in `python -m pdb`, options stand before the script; what follows it is its own. It stops before
the first event; `help` lists the commands:
  kerascope debug train.py data.csv
  kerascope debug -m package.train data.csv     a module, as in `python -m`
  kerascope debug -c 'b dense_2:bwd' -c c train.py
  kerascope debug -x commands.txt train.py
  kerascope debug --until backward train.py     runs to the first backward phase, then asks
  kerascope debug --fail-on nan train.py        exit code 3 if a NaN comes out anywhere

If standard input is no terminal, commands are read from it, and each is written after its prompt:
  echo 'c' | kerascope debug train.py

With --step-all or --format it runs without asking, and what it writes is the result:
  kerascope debug --step-all train.py           every stop, as in the terminal
  kerascope debug --step-all=op --until 'batch 1' train.py
  kerascope debug --format jsonl train.py > t.jsonl     `kerascope replay t.jsonl` reads it
  kerascope debug --format svg --until dense_2:ret train.py > half.svg

formats: text, the stops; md, a Markdown page of them; jsonl, a line for each event, as `record`
writes it but with the figures of arrays in their place; html, the page that plays all events;
svg, the graph as it stands at the end. --step-all=GRAIN chooses the stops of text and md (default:
node) and the events of jsonl and html (default: all). For all but text, what the script prints goes
to standard error. --until ends the output and the program there; what it names must happen. The
commands of -c and -x are done before the first event then, and must not move; .kscoperc is not
read. With --until alone they, and those of .kscoperc, are done where it asks.

{exit_codes(DEBUG_CODES)}
"""
REPLAY_EXAMPLES = f"""\
In `kerascope debug`, `record t.jsonl` writes a tape. Its replay runs no code, neither the script's
nor the model's: it can be read where Keras scripts cannot be trusted.
  kerascope replay t.jsonl
  kerascope replay -c 'catch nan' -c c t.jsonl
  kerascope replay --step-all=op --until forward t.jsonl
  kerascope replay --format md t.jsonl > t.md

--step-all, --until and --format are those of `kerascope debug`.

With --against the script does run, once more, and all that it computes is compared with the tape;
what it prints goes to standard error. It is the same only if its random numbers have seeds:
  kerascope replay --against train.py t.jsonl
  kerascope replay --against train.py t.jsonl -- data.csv --epochs 3

{exit_codes(REPLAY_CODES)}
"""
BARE_STEP_ALL = "--step-all"


def add_debug_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be typed after `kerascope debug`."""
    add = parser.add_argument
    add("script", metavar="script.py [argument ...]")
    _add_module(parser)
    _add_commands(parser)
    add("-x", "--commands-from", metavar="FILE", dest="commands_file",
        help="do the commands in this file first, one on each line; # is a comment")  # fmt: skip
    _add_outputs(parser)
    add("--fail-on", metavar="CONDITIONS",
        help="run on without asking, and fail with exit code 3 at the first of these: nan, inf, "
        "exception, dead, vanishing, exploding, stuck, ratio>0.1 (several: commas)")  # fmt: skip


def _add_module(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-m", "--module", action="store_true",
        help="what follows is the name of a module, as in `python -m package.train`",
    )  # fmt: skip


def _add_commands(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-c", "--command", action="append", default=[], metavar="CMD", dest="commands",
        help="do this command first; may be given several times",
    )  # fmt: skip
    parser.add_argument("--tui", action="store_true", help="on the full screen; needs Textual")


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    """Add the options that let it run without asking."""
    add = parser.add_argument
    add(BARE_STEP_ALL, metavar="=GRAIN", nargs="?", const="",
        help="run on without asking, and write every stop of this grain: act, phase, node (the "
        "default), op or detail; = and the grain follow without a space")  # fmt: skip
    add("--until", metavar="SEL",
        help="run without asking to the first event that SEL names: as `tbreak` takes it "
        "(dense_2, dense_2:bwd, phase:commit, 'batch 17') or as `until` does (backward, 2, "
        "t=61)")  # fmt: skip
    add("--format", metavar="FORMAT",
        help="run on without asking, and write text, md, jsonl, html or svg to standard "
        "output")  # fmt: skip


def split_debug_words(parser: Parser, words: list[str]) -> tuple[list[str], list[str]]:
    """Tell our own options from the script and its arguments, as pdb does.

    Examples
    --------
    >>> parser = Parser()
    >>> add_debug_options(parser)
    >>> split_debug_words(parser, ["-c", "c", "train.py", "-c", "data"])
    (['-c', 'c', 'train.py'], ['-c', 'data'])
    >>> split_debug_words(parser, ["--step-all", "train.py"])
    (['--step-all=', 'train.py'], [])
    >>> split_debug_words(parser, ["-c", "-x", "train.py"])
    (['-c-x', 'train.py'], [])
    """
    ours, theirs = parser.split_at_script(words)
    options = [word for option in parser.with_their_values(ours) for word in _safe(option)]
    return with_own_grain(options), theirs


def _safe(option: list[str]) -> list[str]:
    """Return an option and its value; as one word if the value looks like another option."""
    name, *value = option
    if name in ("-c", "--command") and value and value[0].startswith("-"):
        return [f"{name}={value[0]}" if name.startswith("--") else f"{name}{value[0]}"]
    return option


def split_replay_words(parser: Parser, words: list[str]) -> tuple[list[str], list[str]]:
    """Tell our own words from those behind `--`, which a script of `--against` gets.

    Examples
    --------
    >>> split_replay_words(Parser(), ["--against", "train.py", "t.jsonl", "--", "data.csv"])
    (['--against', 'train.py', 't.jsonl'], ['data.csv'])
    """
    at = words.index("--") if "--" in words else len(words)
    return with_own_grain(words[:at]), words[at + 1 :]


def with_own_grain(words: list[str]) -> list[str]:
    """Return the words so that `--step-all` alone does not take the next word as its grain."""
    return [f"{word}=" if word == BARE_STEP_ALL else word for word in words]


def add_replay_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be typed after `kerascope replay`."""
    parser.add_argument("file", metavar="t.jsonl")
    _add_commands(parser)
    _add_outputs(parser)
    parser.add_argument("--against", metavar="script.py",
        help="run the script again and compare it with the tape, event by event; what follows -- "
        "is the script's own")  # fmt: skip


# --- kerascope profile ----------------------------------------------------------------------------


ORDERS = ("time", "memory", "limit", "name", "order")
PROFILE_EXAMPLES = f"""\
The script runs at full speed; then each function that it has called (train_function,
predict_function, ...) is measured line by line, on the last batch that it got. Options stand before
the script or after it; what follows `--` belongs to the script alone:
  kerascope profile train.py
  kerascope profile train.py -o profile.svg -o profile.html   the model, coloured by time
  kerascope profile train.py --sort memory --all              all ops, the largest results first
  kerascope profile train.py --json > profile.json            for a program
  kerascope profile train.py -- --epochs 3                    what the script gets

Of limit: the least time that an op could take on this machine, as a share of the time it took; by
the best matrix product (GEMM) or by copying its bytes (copy), both measured at the end.

{exit_codes()}
"""


def add_profile_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be typed after `kerascope profile`."""
    add = parser.add_argument
    add("script", metavar="script.py [argument ...]")
    add("-o", "--output", action="append", metavar="FILE", default=[],
        help="also draw the model, each box filled by its share of the time: .svg .html .png .pdf "
             ".txt ...; may be repeated")  # fmt: skip
    add("--sort", choices=ORDERS, default="time",
        help="how the ops are sorted: by time (default), size of their results, share of the "
             "limit, name, or in the order of the program")  # fmt: skip
    add("--all", action="store_true", help="show all ops (default: 20) and all functions")
    add("--repeats", type=positive, metavar="N",
        help="how many calls are measured (default: a second long)")  # fmt: skip
    add("--json", action="store_true",
        help="print JSON; what the script prints goes to standard error")  # fmt: skip


# --- kerascope draw and kerascope summary ---------------------------------------------------------


MODEL_HELP = """\
MODEL is script.py, script.py:name, module:name, or a file: .keras, .h5, .onnx, or the .json or
.yaml of model.to_json() or to_yaml(), written here or by Keras 1, 2 or 3. A script is run as it is,
its training too; what it prints goes to standard error. A file is read without running any code of
it. A name may be that of a module of PyTorch or a function of JAX; --values says what it is called
on.
"""
LEVELS = ("layer", "node", "op", "gradient", "training")
FORMS_OF_FIGURES = ("neurons", "volumes", "u", "columns", "blocks")
DRAW_EXAMPLES = """\
examples:
  kerascope draw model.keras                         writes its picture, <name>.svg
  kerascope draw script.py:encoder -o e.png -o e.html
  kerascope draw model.h5 -o - --format txt          in the terminal
  kerascope draw model.keras --expand conv2_block1   open one block of a large model
  kerascope draw script.py --level training          losses, gradients, slots, updates
  kerascope draw new.keras --diff old.keras          what was added, removed, changed
  kerascope draw script.py --values batch.npz --at 3 after three steps of the forward pass
  kerascope draw model.keras --figure 84mm -o f.pdf  a figure for one column of a paper

FILE ends in .svg .png .pdf .html .txt .dot .mmd .json .graphml .tikz .tex. A
large model is collapsed to about 60 boxes: nested models, then repeated blocks; an .html opens and
closes them. If a script fails while it builds a model, the picture shows how far it came and which
call failed.
"""
SHOW_EXAMPLES = """\
examples:
  kerascope show model.keras conv1                       its filters, conv1.svg
  kerascope show model.keras conv1 --values x.npy        its feature maps for the first sample of x
  kerascope show model.keras lstm_1 --values x.npy --sample 3 -o states.png -o states.html
  kerascope show model.keras dense_1/kernel -o - --format txt

With --values a layer shows what it gives while the model computes them: attention layers their
weights, recurrent layers their states over time. FILE ends in .svg .png .pdf .html .txt.
"""
SUMMARY_EXAMPLES = """\
examples:
  kerascope summary model.keras
  kerascope summary script.py:model --flops --memory --expand-nested
  kerascope summary script.py:module --values x.npy  a module of PyTorch, called on x
"""


def add_draw_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be typed after `kerascope draw`."""
    add = parser.add_argument
    add("model", metavar="MODEL")
    _add_reading(parser)
    add("-o", "--output", action="append", metavar="FILE", default=[],
        help="where to; may be repeated; - is standard output; default: the model's name with "
             ".svg")  # fmt: skip
    add("--format", choices=FORMATS, default="svg",
        help="what `-o -` writes, and what is written without -o (default svg)")  # fmt: skip
    add("--width", type=positive, metavar="N",
        help="columns of a drawing in characters (default: those of the terminal)")  # fmt: skip
    add("--level", choices=LEVELS, default="node",
        help="a box for each layer, each call of one (default), each op; gradients beside what "
             "they belong to; a whole step of training")  # fmt: skip
    add("--rankdir", choices=("TB", "LR"),
        help="from top to bottom (default, but for wide pictures of gradients and training), or "
             "left to right")  # fmt: skip
    add("--wrap", type=positive, metavar="N", default=False,
        help="set a long chain in so many columns, side by side")  # fmt: skip
    add("--depth-ranks", action="store_true", help="write the depth of each row beside it")
    add("--theme", choices=("auto", "light", "dark", "print"), default="auto",
        help="auto (default): as the reader's system wants it; print: without colours"
        )  # fmt: skip
    add("--color", action="append", metavar="KIND=#RRGGBB", default=[],
        help="a colour of your own for a kind of boxes: dense=#8E44AD; background=transparent; may "
             "be repeated")  # fmt: skip
    add("--font", metavar="NAME", help="the letters' font: 'Georgia, serif'")
    add("--figure", metavar="WIDTH",
        help="a figure for a paper, so wide in print: 84mm, 3.3in, 240pt")  # fmt: skip
    add("--form", choices=FORMS_OF_FIGURES,
        help="how a figure is drawn (default: as the model's structure asks for)")  # fmt: skip
    add("--engine", choices=("kerascope", "dot"), default="kerascope",
        help="our own layout (default), or Graphviz's")  # fmt: skip
    add("--dpi", type=positive, default=96, metavar="N", help="pixels per inch of a PNG")
    _add_collapsing(parser)
    _add_marks(parser)
    for name, default, what in (
        ("shapes", True, "the shapes of the outputs"),
        ("dtype", False, "their types"),
        ("layer-names", True, "the names of the layers"),
        ("layer-activations", True, "their activations"),
        ("trainable", False, "whether they are trained"),
        ("settings", True, "how they are set: 3x3, stride 2, same"),
        ("lines", False, "in their tooltips the lines that made them"),
    ):
        add(f"--show-{name}", action=argparse.BooleanOptionalAction, default=default,
            help=f"write {what}{' (default)' if default else ''}")  # fmt: skip


def add_show_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be typed after `kerascope show`."""
    add = parser.add_argument
    add("model", metavar="MODEL")
    add("layer", metavar="LAYER", nargs="?",
        help="name of a layer, or of a weight: dense_1/kernel; without it the model's outputs are "
             "shown")  # fmt: skip
    _add_reading(parser)
    add("--values", metavar="FILE", help="arrays for the inputs (.npy, .npz)")
    add("-o", "--output", action="append", metavar="FILE", default=[],
        help="where to; may be repeated; - is standard output; default: the layer's name with "
             ".svg")  # fmt: skip
    add("--format", choices=OF_TENSORS, default="svg",
        help="what `-o -` writes, and what is written without -o (default svg)")  # fmt: skip
    add("--width", type=positive, metavar="N",
        help="columns of a picture in characters (default: those of the terminal)")  # fmt: skip
    add("--sample", type=_at_least(0), default=0, metavar="N",
        help="which sample of the values (default 0)")  # fmt: skip
    add("--call", type=_at_least(0), default=0, metavar="N",
        help="which call of a layer that is called more than once (default 0)")  # fmt: skip
    add("--most", type=positive, default=64, metavar="N",
        help="at most so many panels; of more, evenly spaced ones (default 64)")  # fmt: skip
    add("--scale", choices=("shared", "own"), default="shared",
        help="one scale for all panels (default), or one for each")  # fmt: skip
    add("--limits", nargs=2, type=float, metavar=("LOW", "HIGH"), help="the ends of the scale")
    add("--theme", choices=("auto", "light", "dark"), default="auto",
        help="auto (default): as the reader's system wants it")  # fmt: skip
    add("--dpi", type=positive, default=96, metavar="N", help="pixels per inch of a PNG")


def _add_reading(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--no-limits", action="store_true",
        help="read a file however much its model takes: only if you trust it")  # fmt: skip
    parser.add_argument("--custom", action="append", metavar="MODULE:CLASS", default=[],
        help="a class of your own that a file names, imported from the current folder; may be "
             "repeated; layers that are not known are drawn, not run")  # fmt: skip
    parser.add_argument("--shape", action="append", metavar="NAME=N,N", default=[],
        help="the output shape, without the batch, of a layer that is not known, as "
             "lambda_1=66,200,3; may be repeated")  # fmt: skip


def _add_collapsing(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--expand-nested", action="store_true", help="draw what is inside nested models")
    add(
        "--expand",
        action="append",
        metavar="NAME",
        default=[],
        help="a frame that shall be open; a number: so many levels of them; all: every one",
    )
    add("--most", type=_number_or_all, default=60, metavar="N",
        help="collapse a larger graph to about so many boxes (default 60); all: never")  # fmt: skip


def _add_marks(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--highlight", action="append", metavar="NAME", help="mark boxes; * stands for anything")
    add("--diff", metavar="MODEL", help="mark what was added, removed and changed since this one")
    add("--values", metavar="FILE",
        help="arrays for the inputs (.npy, .npz): write what each call gives; at level gradient "
             "an .npz with x and y")  # fmt: skip
    add("--at", type=int, metavar="N", help="with --values: after N steps of the forward pass")


def add_summary_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be typed after `kerascope summary`."""
    add = parser.add_argument
    add("model", metavar="MODEL")
    _add_reading(parser)
    add("--calls", action="store_true", help="a row for each call of a layer")
    add("--expand-nested", action="store_true", help="rows for what is inside nested models")
    add("--show-trainable", action="store_true", help="a column: whether training changes it")
    add("--flops", action="store_true", help="a column: multiply-adds for one sample")
    add("--memory", action="store_true", help="columns: memory of weights and activations")
    add("--fold", action=argparse.BooleanOptionalAction, default=None,
        help="write equal rows that follow each other once")  # fmt: skip
    add("--width", type=positive, metavar="N", help="columns (default: those of the terminal)")
    add("--values", metavar="FILE",
        help="what a model of another library is called on (.npy, .npz)")  # fmt: skip


# --- kerascope compare ----------------------------------------------------------------------------


COMPARE_EXAMPLES = f"""\
Both run once on the same input; calls are paired by what they give, by their weights and by their
place in the graph, names last. The table says from which call on they differ, and what of the
weights and settings of that call does:
  kerascope compare model.keras port.h5                      on random numbers
  kerascope compare model.keras model.onnx --input x.npy
  kerascope compare script.py:mine script.py:port --input x.npz -o point.svg
  kerascope compare a.jsonl b.jsonl                          two tapes, as `record` writes them
  kerascope compare model.keras                              the real Keras beside kerascope

{exit_codes({1: "they differ", 2: "or a model failed on the input"})}
"""


def add_compare_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be typed after `kerascope compare`."""
    add = parser.add_argument
    add("a", metavar="A", help="a model, or a tape (.jsonl)")
    add("b", metavar="B", nargs="?",
        help="the other one; without it the real Keras runs A, beside kerascope")  # fmt: skip
    add("--input", metavar="FILE",
        help="arrays for the inputs (.npy, .npz); without it random numbers")  # fmt: skip
    add("--input-b", metavar="FILE", help="those of B, where it wants them otherwise")
    add("--tolerance", type=float, metavar="T",
        help="how large a difference may be, relative to the largest number of an array (default: "
             "as the shortest float type asks, 1e-4 for float32)")  # fmt: skip
    add("--seed", type=_at_least(0), default=0, metavar="N", help="of the random numbers")
    add("-o", "--output", action="append", metavar="FILE", default=[],
        help="also draw A with the point marked: .svg .html .png .pdf .txt ...")  # fmt: skip
    add("--width", type=positive, metavar="N", help="columns (default: those of the terminal)")
    _add_reading(parser)


def runs_script(options: argparse.Namespace) -> bool:
    """Tell whether what is compared comes out of a script, whose keras is kerascope."""
    return any(".py" in word for word in (options.a, options.b or ""))


# --- kerascope learn ------------------------------------------------------------------------------


LEARN_ACTIONS = ("next", "list", "read", "run", "check", "hint", "reset", "solution", "watch")
LEARN_USAGE = "kerascope learn [ACTION] [EXERCISE ...] [options]"
LEARN_EXAMPLES = f"""\
actions:
  kerascope learn                     the next exercise; the first time, the exercises are copied
                                      to ./kerascope-exercises, where you write your answers
  kerascope learn list                all exercises, and what you have passed
  kerascope learn read 5              chapter 5 in the terminal
  kerascope learn run                 run your file and see what it prints
  kerascope learn check               check it: NOT ATTEMPTED, FAIL and why, or PASS
  kerascope learn hint                a hint; the next time, a clearer one
  kerascope learn reset               begin again; what you had written is kept beside it
  kerascope learn solution            one way to do it
  kerascope learn watch               check again whenever you save

EXERCISE is a name (count_parameters), an id (01/count_parameters), a file, or a chapter's number;
left out, it is the next one that you have not passed.

for teachers:
  kerascope learn check --all --json --folder ann --folder bob
  kerascope learn check --all --class submissions        a line for each student
No file in these folders is changed. It runs what the students wrote: on a machine where it may.

{exit_codes({5: "check: none failed, but one was not attempted", 124: "run: it took too long"})}
"""


def add_learn_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be typed after `kerascope learn`."""
    add = parser.add_argument
    parser.set_defaults(dialect=None)
    add("--lang", choices=("en", "zh"), help="English or Chinese; it is remembered")
    add("--folder", action="append", metavar="DIR", default=[],
        help="where your answers are (default ./kerascope-exercises, or the one you stand in)"
    )  # fmt: skip
    add("--class", dest="class_folder", metavar="DIR", help="check: a folder of students' folders")
    add("--all", action="store_true", help="check: every exercise")
    add("--json", action="store_true", help="check: write the verdicts as JSON")
    add("--time-limit", type=_seconds, metavar="S",
        help="seconds that your file may take (default 10; run: 60)"
    )  # fmt: skip


def split_learn_words(parser: Parser, words: list[str]) -> tuple[list[str], list[str]]:
    """Tell options from the action and the exercises, wherever they stand."""
    ours: list[str] = []
    others: list[str] = []
    for option in parser.with_their_values(words):
        (ours if option[0].startswith("-") else others).extend(option)
    return ours, others


def _seconds(word: str) -> float:
    try:
        number = float(word)
    except ValueError:
        number = 0.0
    if not 0 < number <= 3600:
        raise argparse.ArgumentTypeError(f"expected seconds above 0, at most 3600; got {word}")
    return number


# --- kerascope lessons and kerascope examples -----------------------------------------------------


LESSONS_EXAMPLES = f"""\
A chapter is meant by its number or its name (7, 07, 07-dense, dense); without one, all are:
  kerascope lessons check                  run every block, compare every printed line
  kerascope lessons check 7                ... of one chapter
  kerascope lessons build --accept 7       write into it what its blocks print now
  kerascope lessons build --accept --translated zh 7
                                           ... and say that its Chinese was brought up to date
  kerascope lessons html -o pages          a page for each chapter, and an index
  kerascope lessons notebook --lang zh 7   a Jupyter notebook, written to ./07-dense.zh.ipynb

A new chapter is a folder NN-topic with lesson.en.md and lesson.zh.md:
  kerascope lessons check --tutorials my_course

{exit_codes({1: "check and build: something differs"})}
"""
LESSONS_ACTIONS = {
    "check": "run every block and compare every printed line",
    "build": "the same; with --accept, write what has changed",
    "html": "make a page for each chapter, and an index",
    "notebook": "make a Jupyter notebook of each chapter",
}


def add_lessons_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be typed after `kerascope lessons`.

    A lesson says itself in which dialect it speaks, so there is no such option.
    """
    parser.set_defaults(dialect=None)
    sub = parser.add_subparsers(dest="action", required=True, metavar="action")
    for name, help_text in LESSONS_ACTIONS.items():
        action = sub.add_parser(
            name,
            help=help_text,
            epilog=LESSONS_EXAMPLES,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        action.add_argument("chapters", nargs="*", metavar="chapter", help="default: all")
        action.add_argument("--tutorials", metavar="DIR", help="folder of the chapters")
        if name == "build":
            _add_build_options(action)
        if name in ("check", "build"):
            action.add_argument(
                "--jobs", type=_at_least(1), default=2, metavar="N",
                help="how many chapters run at a time (default 2)",
            )  # fmt: skip
        if name in ("html", "notebook"):
            where = "lessons" if name == "html" else "."
            action.add_argument(
                "-o", "--output", default=where, metavar="DIR",
                help=f"folder to write to (default {where})",
            )  # fmt: skip
        if name == "notebook":
            action.add_argument("--lang", choices=("en", "zh"), help="default: both")


def _add_build_options(action: argparse.ArgumentParser) -> None:
    how = action.add_mutually_exclusive_group()
    how.add_argument("--accept", action="store_true", help="rewrite outputs and pictures")
    how.add_argument("--check", action="store_true", help="only compare (default)")
    action.add_argument(
        "--translated", choices=("en", "zh", "both"),
        help="with --accept: the language that was brought up to date; renews the hashes of twins",
    )  # fmt: skip


EXAMPLES_FOLDER = "examples"
EXAMPLES_EXAMPLES = f"""\
  kerascope examples              copy them to ./{EXAMPLES_FOLDER}
  kerascope examples .            ... to the folder in which you stand, as chapter 0 wants it
  kerascope examples --list       only say what there is
  kerascope examples --force      write also over those that you have changed

Without --force a file that is there already is left as it is.

{exit_codes()}
"""


def add_examples_options(parser: argparse.ArgumentParser) -> None:
    """Add what can be typed after `kerascope examples`."""
    add = parser.add_argument
    parser.set_defaults(dialect=None)
    add(
        "folder",
        nargs="?",
        default=EXAMPLES_FOLDER,
        metavar="FOLDER",
        help=f"default ./{EXAMPLES_FOLDER}",
    )
    add("--list", action="store_true", help="copy nothing; a line for each example")
    add("--force", action="store_true", help="write over files that were changed")


# --- numbers --------------------------------------------------------------------------------------


def _at_least(least: int) -> Callable[[str], int]:
    """Return what reads a whole number."""

    def number(word: str) -> int:
        if not word.isdecimal() or int(word) < least:
            raise argparse.ArgumentTypeError(f"expected {least} or more, got {word}")
        return int(word)

    return number


def positive(word: str) -> int:
    """Return a whole number above 0."""
    number = int(word)
    if number < 1:
        raise argparse.ArgumentTypeError(f"expected a number above 0, got {word}")
    return number


def _number_or_all(word: str) -> int | None:
    if word == "all":
        return None
    if not word.isdigit():
        raise argparse.ArgumentTypeError(f"expected a number or all, got {word!r}")
    return positive(word)
