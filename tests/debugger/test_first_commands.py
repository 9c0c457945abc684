"""Commands given on the command line, whatever they begin with."""

import pytest

from kerascope.cli.parser import split_debug_words


@pytest.mark.parametrize("option", ["-c", "--command"])
def test_a_command_that_begins_with_a_minus_is_a_command(option):
    ours, theirs = split_debug_words([option, "-x", "train.py", "-c", "data"])
    assert ours in (["-c-x", "train.py"], ["--command=-x", "train.py"])
    assert theirs == ["-c", "data"]
