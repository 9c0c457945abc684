"""What two chapters must show, whatever else is rewritten in them."""

import re

from kerascope.lessons.lesson import Block, Picture
from kerascope.lessons.parser import chapter_folders, read_chapter


def parts_of(number, section):
    """Return the parts of a section of a chapter, in the order of the page."""
    (folder,) = (one for one in chapter_folders() if one.name.startswith(f"{number}-"))
    return next(one.parts for one in read_chapter(folder).main.sections if one.id == section)


def outputs_of(number, section):
    blocks = [part for part in parts_of(number, section) if isinstance(part, Block)]
    return {block.id: block.output.text for block in blocks if block.output}


def test_chapter_13_does_the_same_sweep_by_hand_in_the_debugger_as_a_graph_and_by_differences():
    by_hand = outputs_of("13", "by-hand-section")
    assert [float(n) for n in by_hand["by-hand"].split()[-2:]] == [150, 90]
    assert by_hand["agrees"] == "[150.0, 90.0]\n"

    sweep = outputs_of("13", "debugger")["sweep"]
    ops = re.findall(r"^   grad\.op (\w+):", sweep, flags=re.MULTILINE)
    assert ops == ["square", "add", "multiply"]
    sent = re.findall(r"\(Kdb\) pv terms\n\[(.*)\]", sweep)
    assert sent == ["f32[] 30", "f32[] 30, f32[] 30", "f32[] 120, f32[] 90"]
    assert 'pv grads["x"]\nf32[] 150' in sweep

    pictures = [part.path for part in parts_of("13", "graph") if isinstance(part, Picture)]
    assert "out/gradients.svg" in pictures

    rows = [line.split() for line in outputs_of("13", "differences")["steps"].splitlines()[1:]]
    assert min(abs(float(both_ways) - 150) for _, _, both_ways in rows) < 0.01


def test_chapter_16_finds_both_causes_each_alone_enough_and_repairs_the_model():
    assert outputs_of("16", "nothing-arrives")["gradients"].count("all 0: True") == 8
    assert outputs_of("16", "complaint")["bit-identical"].count("the same: True") == 6
    rows = [line.split() for line in outputs_of("16", "each-alone")["four-models"].splitlines()]
    found = {(row[0], row[1]): [float(number) for number in row[2:]] for row in rows[1:]}
    at_output, before_it, in_kernel = found["softmax", "mse"]  # only the second cause
    assert at_output > 0
    assert before_it == in_kernel == 0
    assert found["linear", "binary_crossentropy"] == [0, 0, 0]  # only the first
    assert min(found["sigmoid", "binary_crossentropy"]) > 0  # neither
    repaired = "".join(outputs_of("16", "repaired").values())
    losses = [float(number) for number in re.findall(r"100: (\d\.\d+)", repaired)]
    assert len(losses) == 3
    assert max(losses) < 0.01
