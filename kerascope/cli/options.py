"""The options and the help texts of each command of `kerascope`.

A script has arguments of its own. The `split_*_words` functions separate them from the options of
kerascope. `commands.py` contains the table of the commands. `--help` prints the first
paragraph of a text before the options and the rest after them.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable

from kerascope.cli.usage import Parser, exit_codes
from kerascope.settings import ENGINES
from kerascope.viz.formats import FORMATS, OF_TENSORS

# --- kerascope run and kerascope trace ------------------------------------------------------------


RUN_EXAMPLES = f"""\
  kerascope run train.py data.csv --epochs 3      pass arguments to the script
  kerascope run -m package.train data.csv         run a module, as `python -m` does
  kerascope run --dialect 1.2 old_script.py       use the names and defaults of Keras 1
  kerascope run --dialect 3 new_script.py         use those of Keras 3
  kerascope run --engine jax train.py             compute with JAX, on a GPU if there is one
  kerascope run --live --tape run.jsonl train.py  run with real PyTorch or Keras; watch for NaN

Options go before the script. Everything after the script is passed to it.
In the script, `import keras`, `from tensorflow import keras` and the import paths of Keras 1, 2
and 3 import kerascope. An installed Keras is not changed.

{exit_codes()}
"""
TRACE_EXAMPLES = f"""\
  kerascope trace --batches 2 train.py data.csv   show two batches in full
  kerascope trace train.py -- --batches 100       pass --batches to the script
  kerascope trace --live train.py                 trace a script that uses real PyTorch or Keras

Options go before or after the script. Everything after `--` is passed to the script.
Formats: text, md (Markdown) or jsonl (one JSON object per line). With md and jsonl, the output of
the script goes to standard error.

{exit_codes()}
"""


def add_run_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `kerascope run`."""
    parser.add_argument("script", metavar="script.py [argument ...]", help="See below.")
    _add_module(parser)
    _add_engine(parser)
    _add_live(parser)
    parser.add_argument("--tape", metavar="FILE",
        help="With --live: write a tape for kerascope replay (run.jsonl).")  # fmt: skip


def _add_engine(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--engine", choices=ENGINES, dest="engine_of_functions",
        help="The library that computes the functions of models (default: $KERASCOPE_ENGINE, or "
        "numpy).",
    )  # fmt: skip


def _add_live(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--live", action="store_true",
        help="Run with the real torch or keras, and record batches, layers and NaN.",
    )  # fmt: skip


def add_trace_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `kerascope trace`."""
    parser.add_argument("script", metavar="script.py [argument ...]", help="See below.")
    parser.add_argument(
        "--level", choices=("node", "op"), default="node",
        help="node: one line per layer (default). op: also one line per op.",
    )  # fmt: skip
    parser.add_argument("--format", choices=("text", "md", "jsonl"), default="text",
        help="The output format (default text).")  # fmt: skip
    parser.add_argument(
        "--batches", type=_at_least(0), default=1, metavar="N",
        help="Show the first N batches of each train function in full (default 1). Epochs and "
        "batches are numbered from 0.",
    )  # fmt: skip
    _add_live(parser)


# --- kerascope play -------------------------------------------------------------------------------


PLAY_EXAMPLES = f"""\
  kerascope play train.py                         write train.html
  kerascope play train.py -o page.html data.csv   pass data.csv to the script
  kerascope play train.py -o step.svg             write a moving picture without JavaScript
  kerascope play train.py -o step.strip.svg       write still pictures side by side, for a slide
  kerascope play train.py -o film.gif --batches 50  write a film of 50 steps
  kerascope play --level op --batches 2 train.py  show every op of two training steps
  kerascope play t.jsonl                          play a recorded tape
  kerascope play model.keras --input x.npy        play one forward pass of a model
  kerascope play model.onnx -o pass.html          play one forward pass on random numbers

The page is one self-contained HTML file. It shows the graph with its values, a timeline, a sentence
for each step, the source code and the names.
Options go before or after the script. Everything after `--` is passed to the script.

{exit_codes()}
"""


def add_play_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `kerascope play`."""
    parser.add_argument("script", metavar="script.py [argument ...]",
        help="A script, a tape or a model file.")  # fmt: skip
    parser.add_argument(
        "-o", "--output", metavar="FILE",
        help="Write a page (default: script.html), a moving picture (step.svg), still pictures "
        "side by side (step.strip.svg), or a film of the first --batches steps (training.gif).",
    )  # fmt: skip
    parser.add_argument(
        "--level", choices=("detail", "op", "node", "phase", "act"), default=None,
        help="The smallest steps that are shown (default: the smallest that fit into a page).",
    )  # fmt: skip
    parser.add_argument(
        "--batches", type=_at_least(1), default=1, metavar="N",
        help="Play the first N training steps of each model (default 1).",
    )  # fmt: skip
    parser.add_argument(
        "--input", metavar="FILE",
        help="Arrays for the inputs of a model file (.npy, .npz). Default: random numbers.",
    )  # fmt: skip
    parser.add_argument("--seed", type=_at_least(0), default=0, metavar="N",
        help="Seed of the random numbers.")  # fmt: skip
    _add_reading(parser)


# --- kerascope debug and kerascope replay ---------------------------------------------------------


DEBUG_CODES = {2: "also: the event of --until never happened", 3: "--fail-on: found"}
REPLAY_CODES = {
    2: "also: the event of --until never happened",
    4: "--against: the script computes something different from the tape",
}
DEBUG_EXAMPLES = f"""\
  kerascope debug train.py data.csv             step through a script
  kerascope debug -m package.train data.csv     step through a module, as `python -m` runs it
  kerascope debug -c 'b dense_2:bwd' -c c train.py   set a breakpoint and continue
  kerascope debug -x commands.txt train.py      run the commands in a file first
  echo 'c' | kerascope debug train.py           read commands from standard input
  kerascope debug --until backward train.py     run to the first backward phase, then prompt
  kerascope debug --fail-on nan train.py        exit with code 3 at the first NaN
  kerascope debug --step-all train.py           print every stop, without a prompt
  kerascope debug --step-all=op --until 'batch 1' train.py
  kerascope debug --format jsonl train.py > t.jsonl     write a tape for `kerascope replay`
  kerascope debug --format svg --until dense_2:ret train.py > half.svg

As in `python -m pdb`, options go before the script, and everything after the script is passed to
it. The debugger stops before the first event. Type `help` for its commands. If standard input is
not a terminal, commands are read from it, and each is printed after its prompt.

With --step-all or --format, the script runs without a prompt. The formats are:
  text    the stops
  md      the stops as a Markdown page
  jsonl   one line per event, as `record` writes it, with statistics instead of whole arrays
  html    a page that plays all events
  svg     the graph at the end of the run
--step-all=GRAIN selects the stops of text and md (default: node) and the events of jsonl and html
(default: all). With every format but text, the output of the script goes to standard error.
--until ends the output and the program at its event, which must happen. Commands of -c and -x run
before the first event and must not move the program. .kscoperc is not read.
With --until alone, the commands of -c, -x and .kscoperc run at the stop.

{exit_codes(DEBUG_CODES)}
"""
REPLAY_EXAMPLES = f"""\
  kerascope replay t.jsonl                      step through a tape
  kerascope replay -c 'catch nan' -c c t.jsonl  go to the first NaN
  kerascope replay --step-all=op --until forward t.jsonl
  kerascope replay --format md t.jsonl > t.md   write all stops as a Markdown page
  kerascope replay --against train.py t.jsonl   run the script again and compare
  kerascope replay --against train.py t.jsonl -- data.csv --epochs 3

In `kerascope debug`, the command `record t.jsonl` writes a tape. A replay runs no code of the
script or the model, so you can open tapes of scripts that you do not trust. --step-all, --until and
--format work as in `kerascope debug`.
With --against, the script does run again. Everything that it computes is compared with the tape,
and its output goes to standard error. The results agree only if its random numbers have seeds.
Everything after `--` is passed to the script.

{exit_codes(REPLAY_CODES)}
"""
BARE_STEP_ALL = "--step-all"


def add_debug_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `kerascope debug`."""
    add = parser.add_argument
    add("script", metavar="script.py [argument ...]", help="See below.")
    _add_module(parser)
    _add_engine(parser)
    _add_commands(parser)
    add("-x", "--commands-from", metavar="FILE", dest="commands_file",
        help="Run the commands in FILE first, one per line. # starts a comment.")  # fmt: skip
    _add_outputs(parser)
    add("--fail-on", metavar="CONDITIONS",
        help="Run without a prompt, and exit with code 3 at the first of these: nan, inf, "
        "exception, dead, vanishing, exploding, stuck, ratio>0.1 (several: commas).")  # fmt: skip


def _add_module(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-m", "--module", action="store_true",
        help="Run a module by its name, as `python -m package.train` does.",
    )  # fmt: skip


def _add_commands(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "-c", "--command", action="append", default=[], metavar="CMD", dest="commands",
        help="Run this command first. May be repeated.",
    )  # fmt: skip
    parser.add_argument("--tui", action="store_true", help="Use the full screen. Needs Textual.")


def _add_outputs(parser: argparse.ArgumentParser) -> None:
    """Add the options that let the debugger run without a prompt: `--step-all` and others."""
    add = parser.add_argument
    add(BARE_STEP_ALL, metavar="=GRAIN", nargs="?", const="",
        help="Run without a prompt, and write every stop of this grain: act, phase, node "
        "(default), op or detail. Write =GRAIN without a space.")  # fmt: skip
    add("--until", metavar="SEL",
        help="Run without a prompt to the first event that SEL selects. SEL is an argument of "
        "`tbreak` (dense_2, dense_2:bwd, phase:commit, 'batch 17') or of `until` (backward, 2, "
        "t=61).")  # fmt: skip
    add("--format", metavar="FORMAT",
        help="Run without a prompt, and write text, md, jsonl, html or svg to standard "
        "output.")  # fmt: skip


def split_debug_words(parser: Parser, words: list[str]) -> tuple[list[str], list[str]]:
    """Separate the options and the script from the script's arguments, as pdb does.

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
    """Return the words of an option; `-c` and a value that looks like an option become one word."""
    name, *value = option
    if name in ("-c", "--command") and value and value[0].startswith("-"):
        return [f"{name}={value[0]}" if name.startswith("--") else f"{name}{value[0]}"]
    return option


def split_replay_words(parser: Parser, words: list[str]) -> tuple[list[str], list[str]]:
    """Separate kerascope's own words from those after `--`, which go to the script of `--against`.

    Examples
    --------
    >>> split_replay_words(Parser(), ["--against", "train.py", "t.jsonl", "--", "data.csv"])
    (['--against', 'train.py', 't.jsonl'], ['data.csv'])
    """
    at = words.index("--") if "--" in words else len(words)
    return with_own_grain(words[:at]), words[at + 1 :]


def with_own_grain(words: list[str]) -> list[str]:
    """Return the words with `--step-all=` in place of `--step-all`.

    Without the sign `=`, the parser would take the next word as the grain.
    """
    return [f"{word}=" if word == BARE_STEP_ALL else word for word in words]


def add_replay_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `kerascope replay`."""
    parser.add_argument("file", metavar="t.jsonl", help="The tape.")
    _add_commands(parser)
    _add_outputs(parser)
    parser.add_argument("--against", metavar="script.py",
        help="Run the script again and compare it with the tape, event by event.")  # fmt: skip


# --- kerascope profile ----------------------------------------------------------------------------


ORDERS = ("time", "memory", "limit", "name", "order")
PROFILE_EXAMPLES = f"""\
  kerascope profile train.py                                  print tables of time and memory
  kerascope profile train.py -o profile.svg -o profile.html   draw the model, coloured by time
  kerascope profile train.py --sort memory --all              show all ops, largest results first
  kerascope profile train.py --json > profile.json            write JSON for a program
  kerascope profile train.py -- --epochs 3                    pass arguments to the script

The script runs at full speed. Then each function that it called (train_function, predict_function,
...) is measured op by op, on its last batch.
Options go before or after the script. Everything after `--` is passed to the script.

The column "Of limit" is the shortest time in which this machine could run an op, in percent of the
time it took. The shortest time is that of the best matrix product (GEMM) or of copying its bytes
(copy), both measured at the end.

{exit_codes()}
"""


def add_profile_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `kerascope profile`."""
    add = parser.add_argument
    add("script", metavar="script.py [argument ...]", help="See below.")
    add("-o", "--output", action="append", metavar="FILE", default=[],
        help="Also draw the model, each box filled by its share of the time (.svg, .html, .png, "
             ".pdf, .txt, ...). May be repeated.")  # fmt: skip
    add("--sort", choices=ORDERS, default="time",
        help="Sort the ops by time (default), by size of the results, by share of the limit, by "
             "name, or in the order of the program.")  # fmt: skip
    add("--all", action="store_true", help="Show all ops (default: 20) and all functions.")
    add("--repeats", type=positive, metavar="N",
        help="Measure N calls (default: as many as take one second).")  # fmt: skip
    add("--json", action="store_true",
        help="Print JSON. The output of the script goes to standard error.")  # fmt: skip


# --- kerascope draw and kerascope summary ---------------------------------------------------------


MODEL_HELP = """\
MODEL is script.py, script.py:name, module:name or a file: .keras, .h5, .onnx, or the .json or .yaml
that model.to_json() or to_yaml() returns, from kerascope or Keras 1, 2 or 3. A script runs as a
whole, with its training, and its output goes to standard error. Reading a file never runs code from
it. A name may also refer to a PyTorch module or a JAX function. Give its inputs with --values.
"""
LEVELS = ("layer", "node", "op", "gradient", "training")
FORMS_OF_FIGURES = ("neurons", "volumes", "u", "columns", "blocks")
DRAW_EXAMPLES = """\
  kerascope draw model.keras                          write its picture to <name>.svg
  kerascope draw script.py:encoder -o e.png -o e.html
  kerascope draw model.h5 -o - --format txt           draw in the terminal
  kerascope draw model.keras --expand conv2_block1    open one block of a large model
  kerascope draw script.py --level training           show losses, gradients, slots and updates
  kerascope draw new.keras --diff old.keras           mark what was added, removed and changed
  kerascope draw script.py --values batch.npz --at 3  stop after three steps of the forward pass
  kerascope draw model.keras --figure 84mm -o f.pdf   draw a figure for one column of a paper
  kerascope draw model.keras --style figure --values x.npy  show feature maps, attention and bars

FILE ends in .svg, .png, .pdf, .html, .txt, .dot, .mmd, .json, .graphml, .tikz or .tex.
A large model is collapsed to about 60 boxes: first its nested models, then its repeated blocks. You
can open and close them in an .html file. If a script fails while it builds a model, the picture
shows the layers built so far and the call that failed.
"""
SHOW_EXAMPLES = """\
  kerascope show model.keras conv1                       draw its filters to conv1.svg
  kerascope show model.keras conv1 --values x.npy        draw its feature maps for one sample
  kerascope show model.keras lstm_1 --values x.npy --sample 3 -o states.png -o states.html
  kerascope show model.keras dense_1/kernel -o - --format txt

With --values, the model runs on these inputs and the layer's outputs are drawn. Attention layers
show their attention weights, and recurrent layers their states over time. FILE ends in .svg, .png,
.pdf, .html, .txt, .tikz or .tex.
"""
SUMMARY_EXAMPLES = """\
  kerascope summary model.keras                      print a table of the layers
  kerascope summary script.py:model --flops --memory --expand-nested
  kerascope summary script.py:module --values x.npy  call a PyTorch module on x
"""


FACTS = (  # texts in the boxes: option, default, description
    ("shapes", True, "the shapes of the outputs"),
    ("dtype", False, "the dtypes of the outputs"),
    ("layer-names", True, "the names of the layers"),
    ("layer-activations", True, "the activations of the layers"),
    ("trainable", False, "whether the layers are trainable"),
    ("settings", True, "the settings of the layers: 3x3, stride 2, same"),
    ("lines", False, "the source lines of the layers, in tooltips"),
)


def add_draw_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `kerascope draw`."""
    add = parser.add_argument
    add("model", metavar="MODEL", help="See below.")
    _add_reading(parser)
    add("-o", "--output", action="append", metavar="FILE", default=[],
        help="Write to FILE, or to standard output if it is -. May be repeated. Default: the "
             "model's name with .svg.")  # fmt: skip
    add("--format", choices=FORMATS, default="svg",
        help="The format of `-o -`, and of the file without -o (default svg).")  # fmt: skip
    add("--width", type=_columns, metavar="N",
        help="Columns of a drawing in characters (default: the terminal's width).")  # fmt: skip
    add("--level", choices=LEVELS, default="node",
        help="Draw a box for each layer, each call of a layer (node, default) or each op; the "
             "gradients next to their tensors; or a whole training step.")  # fmt: skip
    add("--rankdir", choices=("TB", "LR"),
        help="Draw from top to bottom or from left to right. Default: TB, but LR for wide "
             "pictures of gradients and training.")  # fmt: skip
    add("--wrap", type=positive, metavar="N", default=False,
        help="Break a long chain into N columns.")  # fmt: skip
    add("--depth-ranks", action="store_true", help="Write the depth next to each row.")
    _add_look(parser)
    _add_figure(parser)
    add("--engine", choices=("kerascope", "dot"), default="kerascope",
        help="Use the layout of kerascope (default) or of Graphviz.")  # fmt: skip
    add("--dpi", type=positive, default=96, metavar="N", help="Resolution of a PNG (default 96).")
    _add_collapsing(parser)
    _add_marks(parser)
    for name, default, what in FACTS:
        add(f"--show-{name}", action=argparse.BooleanOptionalAction, default=default,
            help=f"Write {what}{' (default)' if default else ''}.")  # fmt: skip


def _add_look(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--theme", choices=("auto", "light", "dark", "print"), default="auto",
        help="auto (default): light or dark as the reader's system is set. print: no colours."
        )  # fmt: skip
    add("--color", action="append", metavar="KIND=#RRGGBB", default=[],
        help="Your own colour for a kind of boxes, as dense=#8E44AD or background=transparent. "
             "May be repeated.")  # fmt: skip
    add("--font", metavar="NAME", help="The font, as 'Georgia, serif'.")


def _add_figure(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--style", choices=("graph", "figure"),
        help="Draw a graph (default), or a figure for a paper. With --values, a figure shows the "
             "outputs of the layers for the first sample as images.")  # fmt: skip
    add("--figure", metavar="WIDTH",
        help="Draw a figure for a paper with this width in print: 84mm, 3.3in, 240pt. The default "
             "of --style figure is 174mm.")  # fmt: skip
    add("--form", choices=FORMS_OF_FIGURES,
        help="The form of a figure (default: by the structure of the model).")  # fmt: skip
    add("--class-names", metavar="NAMES",
        help="In a figure with --values: names for the bars of the output, as cat,dog."
        )  # fmt: skip


def add_show_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `kerascope show`."""
    add = parser.add_argument
    add("model", metavar="MODEL", help="See below.")
    add("layer", metavar="LAYER", nargs="?",
        help="The name of a layer or of a weight (dense_1/kernel). Default: the model's "
             "outputs.")  # fmt: skip
    _add_reading(parser)
    add("--values", metavar="FILE", help="Arrays for the inputs (.npy, .npz).")
    add("-o", "--output", action="append", metavar="FILE", default=[],
        help="Write to FILE, or to standard output if it is -. May be repeated. Default: the "
             "layer's name with .svg.")  # fmt: skip
    add("--format", choices=OF_TENSORS, default="svg",
        help="The format of `-o -`, and of the file without -o (default svg).")  # fmt: skip
    add("--width", type=positive, metavar="N",
        help="Columns of a picture in characters (default: the terminal's width).")  # fmt: skip
    add("--sample", type=_at_least(0), default=0, metavar="N",
        help="Show sample N of the values (default 0).")  # fmt: skip
    add("--call", type=_at_least(0), default=0, metavar="N",
        help="Show call N of a layer that is called more than once (default 0).")  # fmt: skip
    add("--most", type=positive, default=64, metavar="N",
        help="Draw at most N panels, evenly spaced (default 64).")  # fmt: skip
    add("--scale", choices=("shared", "own"), default="shared",
        help="Use one scale for all panels (default), or one for each.")  # fmt: skip
    add("--limits", nargs=2, type=float, metavar=("LOW", "HIGH"), help="The ends of the scale.")
    add("--theme", choices=("auto", "light", "dark"), default="auto",
        help="auto (default): light or dark as the reader's system is set.")  # fmt: skip
    add("--dpi", type=positive, default=96, metavar="N", help="Resolution of a PNG (default 96).")


def _add_reading(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--no-limits", action="store_true",
        help="Read a file however large its model is. Use this only if you trust it.")  # fmt: skip
    parser.add_argument("--custom", action="append", metavar="MODULE:CLASS", default=[],
        help="A class of your own that the file names, imported from the current folder. May be "
             "repeated. Layers of unknown classes are drawn but cannot run.")  # fmt: skip
    parser.add_argument("--shape", action="append", metavar="NAME=N,N", default=[],
        help="The output shape, without the batch, of a layer of unknown class, as "
             "lambda_1=66,200,3. May be repeated.")  # fmt: skip


def _add_collapsing(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--expand-nested", action="store_true", help="Draw the layers inside nested models.")
    add("--expand", action="append", metavar="NAME", default=[],
        help="Open the frame NAME, this number of levels, or all frames.")  # fmt: skip
    add("--most", type=_number_or_all, default=60, metavar="N",
        help="Collapse a larger graph to about N boxes (default 60), or never (all).")  # fmt: skip


def _add_marks(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("--highlight", action="append", metavar="NAME", help="Mark boxes. * matches any text.")
    add("--diff", metavar="MODEL", help="Mark what was added, removed or changed since MODEL.")
    add("--values", metavar="FILE",
        help="Run the model on these arrays (.npy, .npz) and write the output of each call. At "
             "level gradient: an .npz with x and y.")  # fmt: skip
    add("--at", type=int, metavar="N", help="With --values: stop after N forward steps.")


def add_summary_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `kerascope summary`."""
    add = parser.add_argument
    add("model", metavar="MODEL", help="See below.")
    _add_reading(parser)
    add("--calls", action="store_true", help="Print a row for each call of a layer.")
    add("--expand-nested", action="store_true", help="Print the layers inside nested models.")
    add("--show-trainable", action="store_true", help="Add a column: trainable or not.")
    add("--flops", action="store_true", help="Add a column: multiply-adds for one sample.")
    add("--memory", action="store_true", help="Add columns: memory of weights and activations.")
    add("--fold", action=argparse.BooleanOptionalAction, default=None,
        help="Print equal rows that follow each other only once.")  # fmt: skip
    add("--width", type=positive, metavar="N", help="Columns (default: the terminal's width).")
    add("--values", metavar="FILE",
        help="Arrays for the inputs of a model of another library (.npy, .npz).")  # fmt: skip


# --- kerascope compare ----------------------------------------------------------------------------


COMPARE_EXAMPLES = f"""\
  kerascope compare model.keras port.h5                   compare on random numbers
  kerascope compare model.keras model.onnx --input x.npy  compare on your own input
  kerascope compare script.py:mine script.py:port --input x.npz -o point.svg
  kerascope compare a.jsonl b.jsonl                       compare two tapes
  kerascope compare model.keras                           compare kerascope with the real Keras

Both models run once on the same input. Their calls are paired by their results, by their weights
and by their places in the graph, and last by their names. The table shows the first call that
differs, and which of its weights and settings differ.

{MODEL_HELP}
{exit_codes({1: "also: the models differ", 2: "also: a model failed on the input"})}
"""


def add_compare_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `kerascope compare`."""
    add = parser.add_argument
    add("a", metavar="A", help="A model, or a tape (.jsonl).")
    add("b", metavar="B", nargs="?",
        help="The other model or tape. Without it, the real Keras also runs A.")  # fmt: skip
    add("--input", metavar="FILE",
        help="Arrays for the inputs (.npy, .npz). Default: random numbers.")  # fmt: skip
    add("--input-b", metavar="FILE", help="Arrays for the inputs of B, if they differ.")
    add("--tolerance", type=float, metavar="T",
        help="The largest difference that is allowed, relative to the largest number of an array "
             "(default: by the shortest float dtype, 1e-4 for float32).")  # fmt: skip
    add("--seed", type=_at_least(0), default=0, metavar="N", help="Seed of the random numbers.")
    add("-o", "--output", action="append", metavar="FILE", default=[],
        help="Also draw A with the first different call marked (.svg, .png, ...).")  # fmt: skip
    add("--width", type=positive, metavar="N", help="Columns (default: the terminal's width).")
    _add_reading(parser)


def runs_script(options: argparse.Namespace) -> bool:
    """Return whether one of the models to compare is built by a script.

    If so, `import keras` must import kerascope in that script.
    """
    return any(".py" in word for word in (options.a, options.b or ""))


# --- kerascope learn ------------------------------------------------------------------------------


LEARN_ACTIONS = (
    *("next", "list", "read", "web", "run", "check", "hint", "reset", "solution", "watch"),
    "report",
)
LEARN_CODES = {
    5: "check: none failed, but one was not attempted; solution: not shown yet",
    124: "run: time limit exceeded",
}
LEARN_USAGE = "kerascope learn [ACTION] [EXERCISE ...] [options]"
LEARN_EXAMPLES = f"""\
  kerascope learn            show the next exercise; the first time, copy all
                             exercises to ./kerascope-exercises, where you
                             write your answers
  kerascope learn list       list the exercises and your results
  kerascope learn read 5     read chapter 5 in the terminal
  kerascope learn web        read the chapters in the browser, run their code,
                             do the exercises
  kerascope learn run        run your file and see its output
  kerascope learn check      check your file: NOT ATTEMPTED, FAIL with the
                             reason, or PASS
  kerascope learn hint       show a hint; the next time, a clearer one
  kerascope learn reset      start the exercise again; your file is kept under
                             another name
  kerascope learn solution   show one solution, after your own attempt
  kerascope learn watch      check again whenever you save
  kerascope learn report     write a page that shows what you have done, with
                             your own engine

EXERCISE is a name (count_parameters), an id (01/count_parameters), a file or a
chapter's number.
Default: the next exercise that you have not passed.

for teachers:
  kerascope learn check --all --json --folder ann --folder bob
  kerascope learn check --all --class submissions    print a table of a class
  kerascope learn check --all --class submissions --jobs 4 --csv marks.csv
No file in these folders is changed. The check runs the students' code, so use
a safe machine.

{exit_codes(LEARN_CODES)}
"""


def add_learn_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `kerascope learn`."""
    add = parser.add_argument
    parser.set_defaults(dialect=None)
    add("--lang", choices=("en", "zh"),
        help="Use English or Chinese. Except with read and report, the folder of your answers "
             "remembers it."
    )  # fmt: skip
    add("--folder", action="append", metavar="DIR", default=[],
        help="The folder of your answers (default ./kerascope-exercises, or the current folder "
             "if it is one)."
    )  # fmt: skip
    add("--tutorials", metavar="DIR", help="The folder of another course, such as your teacher's.")
    add("--class", dest="class_folder", metavar="DIR", help="check: a folder of students' folders.")
    add("--all", action="store_true", help="check: check every exercise.")
    add("--jobs", type=_at_least(1), metavar="N",
        help="check: check N files at a time in a class (default 2).")  # fmt: skip
    add("--csv", metavar="FILE", help="check: write a row for each student and exercise to FILE.")
    add("--json", action="store_true", help="check: print the results as JSON.")
    add("--port", type=int, metavar="N", help="web: the port of the pages (default: a free one).")
    add("--no-browser", action="store_true", help="web: print the address, open no browser.")
    add("-o", "--output", metavar="FILE", help="report: the page (default report.html).")
    add("--name", metavar="NAME", help="report: your name, to print on the page.")
    add("--date", metavar="DATE", help="report: a date to print on the page, in any form.")
    add("--time-limit", type=_seconds, metavar="S",
        help="Stop your file after S seconds (default 10, with run 60, with report 120)."
    )  # fmt: skip


def split_learn_words(parser: Parser, words: list[str]) -> tuple[list[str], list[str]]:
    """Return the options with their values, then the other words: the action and the exercises.

    On the command line they may be mixed in any order.
    """
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
        raise argparse.ArgumentTypeError(
            f"invalid value: expected seconds above 0, at most 3600, got {word}."
        )
    return number


# --- kerascope lessons and kerascope examples -----------------------------------------------------


LESSONS_EXAMPLES = f"""\
  kerascope lessons check                  run every block and compare every printed line
  kerascope lessons check 7                check only chapter 7
  kerascope lessons build --accept 7       replace its printed outputs by the present ones
  kerascope lessons build --accept --translated zh 7
                                           the same, and confirm that its Chinese is up to date
  kerascope lessons html -o pages          write a page for each chapter, and an index
  kerascope lessons notebook --lang zh 7   write a Jupyter notebook to ./07-dense.zh.ipynb
  kerascope lessons check --tutorials my_course   check the chapters of your own course
  kerascope lessons check --exercises 7    also its solutions and wrong answers

A chapter is given by its number or its name (7, 07, 07-dense, dense). Default: all chapters. A new
chapter is a folder NN-topic with lesson.en.md, lesson.zh.md, or both.

{exit_codes({1: "also: check or build found a difference"})}
"""
LESSONS_ACTIONS = {
    "check": "Run every block and compare every printed line.",
    "build": "Run every block; with --accept, store the new outputs.",
    "html": "Write a page for each chapter, and an index.",
    "notebook": "Write a Jupyter notebook for each chapter.",
}


def add_lessons_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `kerascope lessons`.

    There is no `--dialect` among them, because each lesson sets its own dialect.
    """
    parser.set_defaults(dialect=None)
    sub = parser.add_subparsers(dest="action", required=True, metavar="action")
    for name, help_text in LESSONS_ACTIONS.items():
        action = sub.add_parser(
            name,
            help=help_text,
            description=help_text,
            epilog=f"examples:\n{LESSONS_EXAMPLES}",
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        action.add_argument("chapters", nargs="*", metavar="chapter", help="Default: all chapters.")
        action.add_argument("--tutorials", metavar="DIR", help="The folder of the chapters.")
        if name == "build":
            _add_build_options(action)
        if name in ("check", "build"):
            action.add_argument(
                "--jobs", type=_at_least(1), default=2, metavar="N",
                help="Run N chapters at a time (default 2).",
            )  # fmt: skip
            action.add_argument(
                "--exercises", action="store_true",
                help="Check the exercises too: their solutions and wrong answers.",
            )  # fmt: skip
        if name in ("html", "notebook"):
            where = "lessons" if name == "html" else "."
            action.add_argument(
                "-o", "--output", default=where, metavar="DIR",
                help=f"The folder to write to (default {where}).",
            )  # fmt: skip
        if name == "notebook":
            action.add_argument("--lang", choices=("en", "zh"),
                help="One language (default: both).")  # fmt: skip


def _add_build_options(action: argparse.ArgumentParser) -> None:
    how = action.add_mutually_exclusive_group()
    how.add_argument("--accept", action="store_true", help="Store the new outputs and pictures.")
    how.add_argument("--check", action="store_true", help="Only compare (default).")
    action.add_argument(
        "--translated", choices=("en", "zh", "both"),
        help="With --accept: the translation that is up to date now. Its hashes are renewed.",
    )  # fmt: skip


EXAMPLES_FOLDER = "examples"
EXAMPLES_EXAMPLES = f"""\
  kerascope examples              copy the scripts to ./{EXAMPLES_FOLDER}
  kerascope examples .            copy them to the current folder, as chapter 0 expects
  kerascope examples --list       only list the scripts
  kerascope examples --force      overwrite files that you have changed

Without --force, files that exist are kept.

{exit_codes()}
"""


def add_examples_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of `kerascope examples`."""
    add = parser.add_argument
    parser.set_defaults(dialect=None)
    add("folder", nargs="?", default=EXAMPLES_FOLDER, metavar="FOLDER",
        help=f"The folder to copy to (default ./{EXAMPLES_FOLDER}).")  # fmt: skip
    add("--list", action="store_true", help="Only list the examples, one per line.")
    add("--force", action="store_true", help="Overwrite changed files.")


# --- numbers --------------------------------------------------------------------------------------


def _at_least(least: int) -> Callable[[str], int]:
    """Return a function that parses a whole number of at least `least`."""

    def number(word: str) -> int:
        if not word.isdecimal() or int(word) < least:
            raise argparse.ArgumentTypeError(
                f"invalid value: expected {least} or more, got {word}."
            )
        return int(word)

    return number


def positive(word: str) -> int:
    """Parse a whole number above 0."""
    if not word.isdecimal() or int(word) < 1:
        raise argparse.ArgumentTypeError(f"invalid value: expected a number above 0, got {word}.")
    return int(word)


def _columns(word: str) -> int:
    """Parse a number of columns. The width of a figure in print is another option."""
    if word.endswith(("mm", "in", "pt")):
        raise argparse.ArgumentTypeError(
            f"invalid value: expected a number of columns, got {word}. For a figure of this width "
            f"in print, write --figure {word}."
        )
    return positive(word)


def _number_or_all(word: str) -> int | None:
    if word == "all":
        return None
    if not word.isdigit():
        raise argparse.ArgumentTypeError(f"invalid value: expected a number or all, got {word!r}.")
    return positive(word)
