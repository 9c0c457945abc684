"""Commands given on the command line, whatever they begin with."""

import pytest

from kerascope.cli.options import add_debug_options, split_debug_words
from kerascope.cli.usage import Parser


@pytest.mark.parametrize("option", ["-c", "--command"])
def test_a_command_that_begins_with_a_minus_is_a_command(option):
    parser = Parser()
    add_debug_options(parser)
    ours, theirs = split_debug_words(parser, [option, "-x", "train.py", "-c", "data"])
    assert ours in (["-c-x", "train.py"], ["--command=-x", "train.py"])
    assert theirs == ["-c", "data"]
