import pytest

from kerascope.viz.boxes import PictureOptions, box_text, description_of, is_repeated
from kerascope.viz.graph import GraphNode


def box(label, class_name, kind):
    return GraphNode(label, label, kind, attrs={"class_name": class_name, "output_shapes": "(3,)"})


@pytest.mark.parametrize(("label", "class_name"), [("add", "Add"), ("batch_dot", "BatchDot")])
def test_the_box_of_an_op_says_its_class_once(label, class_name):
    node = box(label, class_name, "op")
    assert box_text(node, PictureOptions()).lines == ("(3,)",)
    assert description_of(node, ["x"]) == f"{label}, (3,); from x"


def test_the_class_stands_where_it_says_more():
    options = PictureOptions()
    assert box_text(box("add", "Elementwise", "op"), options).lines == ("Elementwise", "(3,)")
    assert box_text(box("add", "Add", "merge"), options).lines == ("Add", "(3,)")


def test_without_names_the_class_of_a_layer_is_said_once():
    node = box("scores", "Dense", "dense")
    assert is_repeated("Dense", node, "Dense")
    assert box_text(node, PictureOptions(show_layer_names=False)).lines == ("(3,)",)
