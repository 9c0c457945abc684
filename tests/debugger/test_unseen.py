"""What the debugger cannot watch is told: training in another thread, other libraries.

It catches a program whose training ran unheard and whose session ended as if there had been none.
"""

import sys
import threading
from types import SimpleNamespace

import numpy as np
from debugger_transcripts import answer, debug_script
from piped import answers, piped

from kerascope.cli.commands import main
from kerascope.layers import Dense
from kerascope.models import Sequential

TOLD = (
    "   apart was trained in another thread, which the debugger does not watch. Call `fit` in the "
    "main thread."
)


def train(name, in_thread=True):
    model = Sequential([Dense(1, input_shape=(2,))], name=name)
    model.compile("sgd", "mse")
    fit = {"target": lambda: model.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0)}
    thread = threading.Thread(**fit)
    if in_thread:
        thread.start()
        thread.join()
    else:
        fit["target"]()
    return model


def test_training_in_another_thread_is_told():
    kept = []
    text = piped(lambda: kept.extend([train("here", False), train("apart")]), "c")
    assert answers(text, "c")[0][-1] == TOLD


def test_a_thread_that_trains_nothing_is_not_told():
    def program():
        train("here", False)
        thread = threading.Thread(target=print)
        thread.start()
        thread.join()

    assert "thread" not in piped(program, "c")


def test_the_hook_of_other_tools_stays():
    def hook(*event):
        sys.setprofile(None)
        called.append(event[1])

    called, before = [], threading.getprofile()
    threading.setprofile(hook)
    try:
        piped(lambda: train("apart"), "c")
        assert threading.getprofile() is hook
    finally:
        threading.setprofile(before)
    assert len(called) == 1


def test_a_script_of_another_library_is_told_how_to_debug_it(tmp_path, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(__file__="torch/__init__.py"))
    path = tmp_path / "train.py"
    path.write_text("import torch\n")
    monkeypatch.chdir(tmp_path)
    hint = "It uses torch: run `kerascope run --live --tape run.jsonl train.py`, then `kerascope re"
    _, out = debug_script(monkeypatch, capsys, "train.py", "c", "q")
    assert answer(out, "c")[-1].strip().startswith(hint)
    assert main(["debug", "--step-all", "train.py"]) == 0
    assert hint in capsys.readouterr().err


def test_nothing_was_looked_for_in_another_thread(tmp_path, monkeypatch, capsys):
    path = tmp_path / "train.py"
    path.write_text(
        "import threading, numpy as np\n"
        "from keras.models import Sequential\n"
        "from keras.layers import Dense\n"
        "m = Sequential([Dense(1, input_shape=(2,))], name='apart')\n"
        "m.compile('sgd', 'mse')\n"
        "t = threading.Thread(target=lambda: m.fit(np.ones((4, 2)), np.ones((4, 1)), verbose=0))\n"
        "t.start(); t.join()\n"
    )
    code, _ = debug_script(monkeypatch, capsys, path, options=["--fail-on", "nan"])
    assert code == 1
