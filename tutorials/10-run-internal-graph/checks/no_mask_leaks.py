"""Checks the predicted masks, the arguments of one call, and those of two runs of one Node."""

import numpy as np

from kerascope.layers import Input, Layer
from kerascope.learn import Text, check

OWN_MASK = np.ones(2, dtype=bool)  # a layer keeps it as a constant


class Scale(Layer):
    def __init__(self, **options):
        super().__init__(**options)
        self.supports_masking = True

    def call(self, inputs, mask=None, by=1.0, shift=0.0):
        return inputs * by + shift


def node_with(**arguments):
    layer = Scale(name="scale")
    layer(Input(shape=(2,)), **arguments)
    return layer.inbound_nodes[0]


def printed_lines(arguments):
    """Return which mask the lines of S2:234 use in the second run."""
    for computed_mask in ("first", "second"):
        kwargs = arguments or {}
        if "mask" not in kwargs:
            kwargs["mask"] = computed_mask
    return kwargs["mask"]


@check
def the_predictions(student):
    for name, arguments, why in (
        (
            "second_run_with_by",
            {"by": 2.0},
            Text("the first run has changed node.arguments", "第一次已经写进了 node.arguments"),
        ),
        (
            "second_run_without",
            {},
            Text("an empty dictionary counts as false", "空字典算作假"),
        ),
    ):
        student.same(name, student.get(name), printed_lines(arguments), why)


@check
def one_call(student):
    kwargs_of = student.function("kwargs_of")
    node = node_with(by=2.0)
    student.same("kwargs_of(node, 'm', True)", kwargs_of(node, "m", True), {"by": 2.0, "mask": "m"})
    student.same(
        "kwargs_of(node, 'm', False)", kwargs_of(node_with(by=2.0), "m", False), {"by": 2.0}
    )
    what = Text(
        "kwargs_of(node, 'm', True) of a node with by and shift",
        "node 带有 by 和 shift 时的 kwargs_of(node, 'm', True)",
    )
    student.same(
        what,
        kwargs_of(node_with(by=2.0, shift=0.5), "m", True),
        {"by": 2.0, "shift": 0.5, "mask": "m"},
    )
    node = node_with(mask=OWN_MASK)
    kept = kwargs_of(node, "m", True).get("mask")
    student.require(
        kept is node.arguments["mask"] or np.array_equal(getattr(kept, "value", kept), OWN_MASK),
        en="expected the mask in node.arguments to be kept, yours was replaced",
        zh="node.arguments 里的掩码应当保留，你把它换掉了",
    )


@check
def two_runs(student):
    kwargs_of = student.function("kwargs_of")
    for arguments in ({"by": 2.0}, {}):
        node = node_with(**arguments)
        for number, mask in enumerate(("first", "second"), 1):
            kwargs = kwargs_of(node, mask, True)
            student.same(
                Text(f"the mask of run {number}", f"第 {number} 次运行的掩码"),
                kwargs.get("mask"),
                mask,
            )
            kwargs["written"] = "afterwards"
        student.same("node.arguments", node.arguments, arguments)
