import pytest
from hypothesis import given
from hypothesis import strategies as st

from kerascope.lessons.comparison import compare, same_float
from kerascope.lessons.runner import clean


@pytest.mark.parametrize(
    ("stored", "printed"),
    [
        ("a\nb\n", "a\nb\n\n"),
        ("a   \n", "a\n"),
        ("loss 0.693147\n", "loss 0.693148\n"),
        ("loss 0.69\n", "loss 0.6931472\n"),
        ("[ 0.5 -1.25]\n", "[ 0.500001 -1.25]\n"),
        ("x 0.0\n", "x -0.0\n"),
        ("1e-07 done\n", "1.0e-07 done\n"),
        ("a\n...\nz\n", "a\nb\nc\nz\n"),
        ("a\n...\nz\n", "a\nz\n"),
        ("...\n", "anything\nat all\n"),
        ("...\nz\nz\n", "a\nz\nz\nz\n"),
        ("<A at ...>\n", "<A at 0x12>\n"),
        ("", ""),
    ],
)
def test_these_hold(stored, printed):
    assert compare(stored, printed) is None


@pytest.mark.parametrize(
    ("stored", "printed", "line"),
    [
        ("a\nb\n", "a\nc\n", 1),
        ("a\nb\n", "a\n", 1),
        ("a\n", "a\nb\n", 1),
        ("", "a\n", 0),
        (" a\n", "a\n", 0),
        ("64 units\n", "65 units\n", 0),
        ("acc 0.6\n", "acc 0.7\n", 0),
        ("loss 0.6931\n", "loss 0.6941\n", 0),
        ("gradient 0.0\n", "gradient 1e-09\n", 0),
        ("a  0.5\n", "a 0.5\n", 0),
        ("dense_1.0\n", "dense_1.1\n", 0),
        ("a\n...\nz\n", "a\nb\n", 2),
        ("a\n...\n", "b\n", 0),
        ("> example.py(93)f()\n", "> example.py(94)f()\n", 0),
        ("> kerascope/engine/node.py(93)f()\n", "> kerascope/engine/model.py(93)f()\n", 0),
        ("> kerascope/engine/node.py(93)f()\n", "> kerascope/engine/node.py(94)f()\n", 0),
        ("Breakpoint 1 at kerascope/a.py:9\n", "Breakpoint 1 at kerascope/a.py:10\n", 0),
    ],
)
def test_these_do_not(stored, printed, line):
    difference = compare(stored, printed)
    assert difference is not None
    assert difference.line == line


def test_the_difference_shows_only_what_differs():
    stored = "one\nloss 0.5000\nthree\nfour\nfive\nsix\n"
    difference = compare(stored, "one\nloss 0.5001\nthree\nfour\nFIVE\nsix\n")
    assert difference.text.splitlines() == ["  three", "  four", "- five", "+ FIVE", "  six"]


@given(st.floats(0.001, 1e6), st.integers(3, 8))
def test_a_float_is_the_same_as_itself_with_more_digits(number, digits):
    assert same_float(f"{number:.{digits}f}", f"{number:.{digits + 4}f}") or number < 0.0005


@given(st.lists(st.text(alphabet="ab .\n", max_size=12), max_size=6))
def test_every_text_holds_against_itself_and_against_dots(lines):
    text = "\n".join(lines)
    assert compare(text, text) is None
    assert compare("...\n", text) is None


def test_long_whole_numbers_are_compared_to_the_last_digit():
    stored, printed = (clean(f"{flops} operations\n") for flops in (38654705664, 38654705665))
    assert compare(stored, printed) is not None


@pytest.mark.parametrize(
    ("printed", "stored"),
    [
        ("<A at 0x7f8a10> 0x7F8A10 0x7f8a20", "<A at 0x1> 0x1 0x2"),
        ("['140187463812304-0', '140187463812304-1']", "['1000000001-0', '1000000001-1']"),
        ("2 ** 40 is 1099511627776", "2 ** 40 is 1099511627776"),
        ("> /usr/lib/python3.11/pdb.py(3)f()", "> pdb.py(3)f()"),
        ("> /home/me/work/kerascope/engine/node.py(3)f()", "> kerascope/engine/node.py(3)f()"),
        ('File "/tmp/x y/a.py", line 3', 'File "a.py", line 3'),
        (r"C:\Users\me\a.py:3", "a.py:3"),
        ("see https://keras.io/layers/core", "see https://keras.io/layers/core"),
        ("a/b and 1/2 and x / y / z", "a/b and 1/2 and x / y / z"),
        ("dense_1/kernel -> input_1/x", "dense_1/kernel -> input_1/x"),
        ("50/50 - 3s 12ms/step - loss: 0.5", "50/50 - loss: 0.5"),
        ("took 0:00:03", "took"),
        ("2 samples, 3 steps, 4 s", "2 samples, 3 steps,"),
        ("a line\r\n", "a line\n"),
        ("\x1b[1mbold\x1b[0m", "bold"),
    ],
)
def test_what_belongs_to_one_machine_is_taken_out(printed, stored):
    assert clean(printed, ["/home/me/work"]) == stored
    assert clean(stored, ["/home/me/work"]) == stored
