"""Print an op graph as a tree: the inputs of each op are indented below it.

An op that several others use is printed once, with a number, and referred to by that number
elsewhere. So the text is as long as the graph, however often its paths join. Very deep trees
continue at the left margin. The graph of a loop's step is printed after the trees.

The format follows Theano's `debugprint`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from kerascope.backend.function import Function
from kerascope.backend.graph import Apply, Tensor, applies_in_order
from kerascope.backend.ops.scan import Scan
from kerascope.backend.ops.scan_graph import InnerGraph
from kerascope.engine.arguments import to_list
from kerascope.engine.network import Network
from kerascope.errors import ArgumentError, DtypeError
from kerascope.viz.boxes import one_line
from kerascope.viz.extract import op_facts
from kerascope.viz.extract.layers import shapes_text

# Levels after which a tree continues at the left margin.
DEEPEST = 16
# Shapes start at or before this column, except on longer lines.
WIDEST = 76

_ASCII = {"├─ ": "|- ", "└─ ": "`- ", "│  ": "|  ", "←": "<-", "…": "..."}


class _Item(NamedTuple):
    """A tensor to be printed.

    Attributes
    ----------
    tensor : Tensor
    role : str
        A prefix that describes the use of the tensor: "kernel ← ".
    above, below : str
        The lines of the tree to the left of the tensor, and to the left of its inputs.
    level : int
        Nesting depth in the tree.
    """

    tensor: Tensor
    role: str = ""
    above: str = ""
    below: str = ""
    level: int = 0


def to_tree(
    results: Any, *, names: bool = True, shapes: bool = True, ascii_only: bool = False
) -> str:
    """Return the ops that compute tensors, or the outputs and updates of a function, as a tree.

    Parameters
    ----------
    results : Tensor, list of (Tensor or None), or Function
        For a function, its outputs are printed, followed by its updates: `variable ← new value`.
    names : bool
        Print the names of ops with their scopes, `dense_1/dot`, instead of `dot`.
    shapes : bool
        Print shapes and dtypes at the right.
    ascii_only : bool
        Use ASCII characters only.

    Raises
    ------
    DtypeError
        A result is not a tensor.
    ArgumentError
        There are no tensors.

    Examples
    --------
    >>> from kerascope import backend as K
    >>> x = K.placeholder(shape=(2, 3), name="x")
    >>> y = K.exp(x)
    >>> print(to_tree(K.sum(y * y, axis=1)))
    sum (axes=(1,))                 (2,) float32
    └─ multiply                     (2, 3) float32
       ├─ [1] exp                   (2, 3) float32
       │  └─ placeholder x          (2, 3) float32
       └─ [1] exp … see above       (2, 3) float32
    >>> w = K.variable(2.0, name="w")
    >>> print(to_tree(K.function([], [], updates=[(w, 0.8 * w)]), shapes=False))
    w ← multiply
    ├─ constant 0.8
    └─ variable w
    """
    if isinstance(results, Function):
        items = [_Item(y) for y in results.outputs]
        items += [_Item(nv, f"{one_line(v.name)} ← ") for v, nv in results.updates]
        tree = _Tree(items, results.inputs, names)
    else:
        tree = _Tree([_Item(x) for x in _checked(results)], (), names)
    text = "\n".join(_columns(tree.lines, shapes))
    if not ascii_only:
        return text
    for sign, plain in _ASCII.items():
        text = text.replace(sign, plain)
    return text.encode("ascii", "backslashreplace").decode("ascii")


def _checked(results: Any) -> list[Tensor]:
    tensors = [x for x in to_list(results) if x is not None]
    for x in tensors:
        if not isinstance(x, Tensor):
            remedy = " Write to_tree(model.outputs)." if isinstance(x, Network) else ""
            raise DtypeError(
                f"to_tree: expected tensors or a function, got {type(x).__name__}.{remedy}"
            )
    if not tensors:
        raise ArgumentError("to_tree: expected tensors or a function, got none.")
    return tensors


def _columns(lines: list[tuple[str, str]], shapes: bool) -> Iterator[str]:
    """Yield the lines of the trees, with shapes and dtypes aligned in a column."""
    fitting = [len(left) for left, right in lines if right and len(left) <= WIDEST]
    width = max(fitting, default=0) + 7
    width -= width % 4
    for left, right in lines:
        yield f"{left:<{width}} {right}".rstrip() if shapes and right else left


class _Tree:
    """Prints trees line by line, without recursion, since graphs may exceed Python's stack.

    Attributes
    ----------
    lines : list of (str, str)
        The tree at the left, and shape and dtype at the right.
    """

    def __init__(self, items: list[_Item], fed: Iterable[Tensor], names: bool) -> None:
        self.lines: list[tuple[str, str]] = []
        self._names = names
        self._fed = set(fed)
        self._loop_inputs: dict[Tensor, str] = {}  # names of the inputs inside loops
        self._uses: dict[Apply, int] = {}
        self._numbers: dict[Apply, int] = {}
        self._printed: set[Apply] = set()
        self._deep: deque[Tensor] = deque()  # tensors of the lines "see below"
        self._loops: deque[Apply] = deque()
        self._steps: dict[InnerGraph, int] = {}  # the number of the first loop that has this step
        self._count_uses([item.tensor for item in items])
        self._print_all(items)
        while self._loops:
            self._print_loop(self._loops.popleft())

    def _count_uses(self, results: list[Tensor]) -> None:
        applies = applies_in_order(results, self._fed)
        used = [*results, *(x for apply in applies for x in apply.inputs)]
        for x in used:
            if x.owner is not None:
                self._uses[x.owner] = self._uses.get(x.owner, 0) + 1

    def _print_all(self, items: Iterable[_Item]) -> None:
        """Print trees. The parts of a tree that are too deep are printed below the tree."""
        for item in items:
            self._print(item)
            while self._deep:
                x = self._deep.popleft()
                if x.owner not in self._printed:
                    self.lines.append(("", ""))
                    self._print(_Item(x))

    def _print(self, item: _Item) -> None:
        waiting = [item]
        while waiting:
            item = waiting.pop()
            waiting.extend(reversed(self._print_line(item)))

    def _print_line(self, item: _Item) -> list[_Item]:
        """Print the line of a tensor, and return the tensors to print below it, its inputs.

        Return [] if it has no inputs, or if they are printed elsewhere.
        """
        x, apply = item.tensor, item.tensor.owner
        start = item.above + item.role
        right = f"{shapes_text([x.shape])} {x.dtype}"
        if apply is None or x in self._fed:
            self.lines.append((f"{start}{self._leaf_text(x)}", right))
            return []
        is_deep = item.level == DEEPEST and bool(apply.inputs)
        is_new = apply not in self._printed
        if is_new and (self._uses[apply] > 1 or is_deep or isinstance(apply.op, Scan)):
            self._numbers.setdefault(apply, len(self._numbers) + 1)
        number = f"[{self._numbers[apply]}] " if apply in self._numbers else ""
        start += number + self._name(apply, x.index)
        if not is_new:
            self.lines.append((f"{start} … see above", right))
            return []
        if is_deep:
            self._deep.append(x)
            self.lines.append((f"{start} … see below", right))
            return []
        self._printed.add(apply)
        detail = op_facts.op_detail(apply)
        self.lines.append((f"{start} ({detail})" if detail else start, right))
        if isinstance(apply.op, Scan):
            self._loops.append(apply)
        return self._inputs(apply, item)

    def _inputs(self, apply: Apply, item: _Item) -> list[_Item]:
        roles: Mapping[int, str] = {}
        if isinstance(apply.op, Scan):
            roles = dict(enumerate(_names_of_inputs(apply.op.inner)))
        items = []
        for i, x in enumerate(apply.inputs):
            is_last = i == len(apply.inputs) - 1
            above = item.below + ("└─ " if is_last else "├─ ")
            below = item.below + ("   " if is_last else "│  ")
            role = f"{roles[i]}: " if i in roles else ""
            items.append(_Item(x, role, above, below, item.level + 1))
        return items

    def _print_loop(self, apply: Apply) -> None:
        """Print the graph of one step of a loop."""
        inner, number = apply.op.inner, self._numbers[apply]  # type: ignore[attr-defined]
        first = self._steps.setdefault(inner, number)
        same = f" as in [{first}]" if first != number else ""
        name = one_line(apply.name) if self._names else apply.op.name
        self.lines += [("", ""), (f"[{number}] {name}: one step{same}", "")]
        if same:
            return
        self._loop_inputs.update(zip(inner.inputs, _names_of_inputs(inner), strict=True))
        results = inner.results
        self._count_uses(results.all())
        roles = [
            *(f"output {i}: " for i in range(len(results.outputs))),
            *(f"state {i} ← " for i in range(len(results.new_states))),
            *(f"sum {i}: sum of " for i in range(len(results.terms))),
        ]
        last = len(roles) - 1
        self._print_all(
            _Item(x, role, "└─ " if i == last else "├─ ", "   " if i == last else "│  ", 1)
            for i, (x, role) in enumerate(zip(results.all(), roles, strict=True))
        )

    # --- words ------------------------------------------------------------------------------------

    def _name(self, apply: Apply, index: int) -> str:
        output = f":{index}" if len(apply.outputs) > 1 else ""
        if not self._names:
            return f"{apply.op.name}{output}"
        name = one_line(apply.name) + output
        return (
            name if op_facts.leaf_of_name(apply) == apply.op.name else f"{name} = {apply.op.name}"
        )

    def _leaf_text(self, x: Tensor) -> str:
        if x in self._loop_inputs:
            return self._loop_inputs[x]
        name = one_line(op_facts.own_name(x))
        label = one_line(op_facts.leaf_label(x))
        return (
            f"{op_facts.kind_of_leaf(x)} {f'{name} = {label}' if name and name != label else label}"
        )


def _names_of_inputs(inner: InnerGraph) -> list[str]:
    """Return the names under which the inputs of a loop's step are printed."""
    return [
        *(f"sequence {i}" for i in range(len(inner.sequences))),
        *(f"state {i}" for i in range(len(inner.states))),
        *(f"other {i}" for i in range(len(inner.others))),
    ]
