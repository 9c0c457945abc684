"""Rows of `Einsum` for tests/backend/test_ops.py."""

import reference_einsum
from op_cases import Case

from kerascope.backend.ops.linalg import Einsum


def row(operands, result, *shapes):
    return Case(
        Einsum(operands, result),
        lambda draw: [draw.normal(*shape) for shape in shapes],
        lambda *arrays: reference_einsum.einsum(operands, result, *arrays),
        smooth=tuple(range(len(operands))),
    )


CASES = [
    row(("ij", "jk"), "ik", (3, 4), (4, 2)),
    row(("ij", "jk"), "ki", (3, 4), (4, 2)),
    row(("btd", "dhk"), "bthk", (2, 3, 2), (2, 2, 3)),
    row(("bthk", "bshk"), "bhts", (2, 3, 2, 2), (2, 4, 2, 2)),
    row(("i", "j"), "ij", (3,), (4,)),
    row(("ij", "ij"), "", (3, 4), (3, 4)),
    row(("ijk", "j"), "i", (2, 3, 2), (3,)),  # k stands in one operand only
    row(("ij", "kj"), "k", (2, 3), (2, 3)),
    row(("ij", "jk", "kl"), "il", (2, 3), (3, 2), (2, 3)),
    row(("ij",), "j", (2, 3)),
    row(("ij",), "ji", (2, 3)),
]
