"""The main job of this project: train two real models, walk through one of them, draw both.

    python3 dev.py demo            (or, where kerascope is installed: python examples/demo.py)

Takes some seconds. The pictures go to `out/`, or to the folder that `--out` names.
"""

import argparse
import runpy
import time
import warnings
from pathlib import Path

import kerascope as ks
from kerascope.cli import main as kerascope_command
from kerascope.errors import SpellingWarning

EXAMPLES = Path(__file__).resolve().parent
OUT = EXAMPLES.parent / "out"


def section(title):
    """Print a heading."""
    print(f"\n=== {title} {'=' * (90 - len(title))}\n", flush=True)


def train_the_example():
    """Run `example.py`, which cannot learn, then `fixed_example.py`; return the second's model."""
    section("1. The document's example: 20-64-64-1, 50 samples")
    print("As printed, softmax over one unit is always 1: no weight ever changes.\n")
    runpy.run_path(str(EXAMPLES / "example.py"))
    print("\nWith sigmoid it learns:\n")
    ks.K.clear_session()
    model = runpy.run_path(str(EXAMPLES / "fixed_example.py"))["model"]
    print()
    model.summary()
    return model


def train_the_digits():
    """Train on the 1,797 handwritten digits; return the model."""
    section("2. Handwritten digits: 64-128-10, 1,437 to learn from, 360 to be tested on")
    train = runpy.run_path(str(EXAMPLES / "digits.py"))["train"]
    start = time.perf_counter()
    model, accuracy = train(seed=0)
    seconds = time.perf_counter() - start
    print(f"{accuracy:.1%} of the test digits are read right, after {seconds:.1f} s of training.\n")
    model.summary()
    return model


def walk_through_the_example():
    """Print what the engine does while `examples/example.py` runs."""
    section("3. The walk: what happens inside while the document's example runs")
    print("It ends with the reason why this example cannot learn: under `backward`, all is 0.\n")
    print("$ kerascope trace examples/example.py\n", flush=True)
    ks.K.clear_session()
    return kerascope_command(["trace", str(EXAMPLES / "example.py")])


def draw(models, folder):
    """Draw each model into an SVG and a PNG file, and print their paths."""
    section("4. The pictures")
    folder.mkdir(parents=True, exist_ok=True)
    for name, model in models.items():
        for suffix in ("svg", "png"):
            path = folder / f"{name}.{suffix}"
            ks.draw(model, to=path)
            print(f"{path}  ({path.stat().st_size:,} bytes)")


def main():
    """Run the demo; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=OUT, help="folder for the pictures")
    folder = parser.parse_args().out
    # example.py says `input=` and `output=`, as Keras 1 did, on purpose.
    warnings.filterwarnings("ignore", category=SpellingWarning)
    models = {"example": train_the_example(), "digits": train_the_digits()}
    code = walk_through_the_example()
    draw(models, folder)
    return code


if __name__ == "__main__":
    raise SystemExit(main())
