"""Alarms: stop a call at full speed before it writes numbers that became infinite or NaN.

NumPy reports overflow, division by zero and invalid results through the processor's floating-point
flags. So the program of a function runs as usual, and its flags are only recorded. Before new
values are written, an exception stops the call if a flag was recorded, and every variable keeps its
value. The values are written by one call into C, which nothing can interrupt; flags of that call
are reported afterwards.

Flags are reliable for most lines of a program's text, each of which is one op. They are not
reliable for kernels, for large matrix products (several threads compute these, each with its own
flags), and for the products of some BLAS libraries. The results of these calls are inspected
instead, and so are fed arrays and all results that are computed without a program. JAX has no
flags: its program tests the results (`engines/lowering.py`), and if one is not finite, NumPy
repeats the call.

An alarm only means that the call should be recorded (`trace/journal.py`). The recorded call is
computed again step by step, which shows whether a number really became infinite or NaN.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Collection, Iterable, Sequence
from contextvars import ContextVar
from functools import cache
from typing import Any

import numpy as np

from kerascope.backend.engines import programs_of_engine
from kerascope.backend.float_settings import with_float_settings
from kerascope.backend.program.emit import compiled, function_of
from kerascope.backend.schedule import Step

KINDS = {"nan": ("invalid",), "inf": ("over", "divide")}  # kind: its floating-point flags
FEW = 32, 64, 64  # rows, terms, columns of a product small enough for one thread
FEW_OF_VECTOR = 8192

_current: ContextVar[Alarms | None] = ContextVar("alarms", default=None)


class Alarm(BaseException):
    """Raised when a call would write a number that became infinite or NaN. Nothing was written.

    It does not derive from Exception, because a program that raises an Exception is computed again
    step by step.
    """


def current_alarms() -> Alarms | None:
    """Return the `Alarms` that watch the function call that is being computed, or None."""
    return _current.get()


class Alarms:
    """Computes calls of functions, and stops a call in which a number becomes infinite or NaN.

    Parameters
    ----------
    kinds : collection of str
        The kinds of numbers to report: "nan", "inf".

    Attributes
    ----------
    kinds : frozenset of str

    Examples
    --------
    >>> from kerascope import backend as K
    >>> x = K.placeholder((2,))
    >>> f = K.function([x], [K.sigmoid(K.exp(x))])
    >>> alarms = Alarms({"inf"})
    >>> alarms.compute(f, [np.ones(2)])[0][0].round(3)
    array([0.938, 0.938], dtype=float32)
    >>> try:
    ...     alarms.compute(f, [np.array([1.0, 100.0])])
    ... except Alarm as alarm:
    ...     print(alarm)
    inf
    """

    def __init__(self, kinds: Collection[str]) -> None:
        self.kinds = frozenset(kinds)
        self._flags: dict[str, int] = {}  # the flags of this call
        flags: Any = dict.fromkeys(("under", "over", "divide", "invalid"), "ignore")
        flags.update({flag: "call" for kind in self.kinds for flag in KINDS[kind]})
        # The recording runs no Python code: it may be called while variables are written.
        flagged = np.errstate(**flags, call=self._flags.__setitem__)
        self._with_flags = flagged(with_float_settings.__wrapped__)  # type: ignore[attr-defined]

    # --- a call -----------------------------------------------------------------------------------

    def compute(self, function: Any, inputs: Sequence[Any]) -> tuple[Any, bool]:
        """Compute a call; return its outputs, and whether an alarm came too late.

        It is too late if the new values are already written. This happens if writing them set a
        floating-point flag of the processor, or if the program was compiled again during the call,
        so that its results were not inspected.

        Parameters
        ----------
        function : Function
        inputs : list of array_like

        Raises
        ------
        Alarm
            A number became infinite or NaN before the new values were written; none was written.
        """
        before = _current.set(self)
        try:
            return self._with_flags(self._compute, function, inputs)  # type: ignore[no-any-return]
        finally:
            _current.reset(before)

    def _compute(self, function: Any, inputs: Sequence[Any]) -> tuple[Any, bool]:
        arrays = function._arrays(inputs)
        self.inspect(arrays)
        self._flags.clear()  # the inspection sets flags, too
        outs, is_same = programs_of_engine(function).guarded(arrays, self)
        if self._flags and not function.updates:
            raise Alarm(*self._flags)
        return outs[0] if function._single else outs, bool(self._flags) or not is_same

    # --- inspecting arrays
    # ----------------------------------------------------------------------------

    def inspect(self, made: Iterable[Any], of: Iterable[Any] = ()) -> None:
        """Check arrays for infinite and NaN numbers where floating-point flags are not reliable.

        Raises
        ------
        Alarm
            An array in `made` contains infinite or NaN numbers, and the arrays `of`, from which it
            was computed, contain none.
        """
        unsound = [x for x in made if not is_sound(x)]
        if not unsound or _current.get() not in (None, self):  # another thread's call
            return
        of = list(of)
        for kind in self.kinds:
            if _any_has(kind, unsound) and not _any_has(kind, of):
                raise Alarm(kind)

    def inspect_step(self, step: Step, values: list[Any]) -> None:
        """Inspect the results of a step that was computed without a program.

        Raises
        ------
        Alarm
            The results contain infinite or NaN numbers, and the inputs contain none.
        """
        self.inspect([values[y] for y in step.outputs], [values[x] for x in step.inputs])
        self._flags.clear()

    def inspecting(self, compute: Callable[..., Any], into: bool) -> Callable[..., Any]:
        """Wrap the function of a program line so that its results are inspected.

        Parameters
        ----------
        compute : callable
            The function.
        into : bool
            Whether `compute` stores its result in its first argument; otherwise it returns the
            result.
        """
        without_flags = self.without_flags(compute)

        def call_and_inspect(*arrays: Any, **options: Any) -> Any:
            result = without_flags(*arrays, **options)
            made = arrays[0] if into else result
            several = made if isinstance(made, (tuple, list)) else [made]
            flags_before = self._flags.copy()
            self.inspect(several, [x for x in arrays if not any(x is y for y in (made, *several))])
            self._set_flags(flags_before)
            return result

        return call_and_inspect

    def inspecting_product(self, product: Callable[..., Any], name: str) -> Callable[..., Any]:
        """Wrap a matrix product: inspect its result if the processor's flags are not reliable."""

        def call_and_inspect(x: Any, y: Any, out: Any) -> Any:
            product(x, y, out)
            if not _are_flags_reliable(name, out.shape, x.shape[-1]):
                flags_before = self._flags.copy()
                self.inspect([out], [x, y])
                self._set_flags(flags_before)

        return call_and_inspect

    def without_flags(self, compute: Callable[..., Any]) -> Callable[..., Any]:
        """Wrap a function so that floating-point flags that it sets are ignored."""

        def call_without_flags(*arrays: Any, **options: Any) -> Any:
            flags_before = self._flags.copy()
            result = compute(*arrays, **options)
            self._set_flags(flags_before)
            return result

        return call_without_flags

    def _set_flags(self, flags_before: dict[str, int]) -> None:
        if len(flags_before) != len(self._flags):
            self._flags.clear()
            self._flags.update(flags_before)

    # --- the code of a program with inspections
    # -------------------------------------------------------

    def guarded(self, run: Callable[..., Any], text: str) -> Callable[..., Any]:
        """Compile a function of a program text again, with inspections of some calls' results.

        These are the calls after which the processor's floating-point flags are not reliable.

        Parameters
        ----------
        run : function
            The compiled function without inspections.
        text : str
            The program text that defines the function.
        """
        tree = function_of(text, run.__name__)
        scope: dict[str, Any] = dict(run.__globals__)  # type: ignore[attr-defined]
        return compiled(_Guarded(self, scope).visit(tree), "guarded", scope)

    def before(self, write: Callable[[], None]) -> Callable[[], None]:
        """Wrap `write`, which writes new values, so that it raises Alarm if a flag is recorded."""

        def write_if_sound() -> None:
            if self._flags and _current.get() is self:
                raise Alarm(*self._flags)
            write()

        return write_if_sound


class _Guarded(ast.NodeTransformer):
    """Adds inspections of results to a program text, where the processor's flags are unreliable."""

    def __init__(self, alarms: Alarms, scope: dict[str, Any]) -> None:
        self._alarms = alarms
        self._scope = scope
        self._into = False

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        """Record that a call whose value is not used stores its result in its first argument."""
        self._into = True
        return self.generic_visit(node)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        """Wrap a called function that sets floating-point flags unreliably; inspect its result.

        `write`, which writes the new values, is wrapped too: it raises Alarm if a flag is recorded.
        """
        into, self._into = self._into, False
        self.generic_visit(node)
        match node.func:
            case ast.Name("write"):
                self._wrap(node, "write", self._alarms.before)
            case ast.Name(name) if not _inspects_itself(self._scope.get(name)):
                self._wrap(node, name, lambda kernel: self._alarms.inspecting(kernel, into))
            case ast.Attribute(ast.Name("np"), ("dot" | "matmul") as name):
                if not self._has_reliable_flags(name, node.args):
                    self._wrap(node, name, lambda f: self._alarms.inspecting_product(f, name))
            case ast.Attribute(ast.Name("np"), "exp") if isinstance(node.args[0], ast.Call):
                # The exponential inside a sigmoid may overflow: the sigmoid is then 0 (correct).
                self._wrap(node, "exp", self._alarms.without_flags)
        return node

    def _wrap(self, node: ast.Call, name: str, made: Callable[[Any], Any]) -> None:
        """Replace the function that `node` calls in the program by its wrapper `made(function)`."""
        thing = self._scope[name] if isinstance(node.func, ast.Name) else getattr(np, name)
        while name in self._scope:
            name += "_"
        self._scope[name] = made(thing)
        node.func = ast.Name(name, ast.Load())

    def _has_reliable_flags(self, name: str, operands: list[ast.expr]) -> bool:
        """Return whether a matrix product of these operands sets floating-point flags reliably."""
        x, y, out = map(self._shape, operands)
        if out is None or (x is None and y is None):
            return False
        terms = x[-1] if x is not None else y[-2 if len(y) > 1 else 0]  # type: ignore[index,arg-type]
        return _are_flags_reliable(name, out, terms)

    def _shape(self, operand: ast.expr) -> tuple[int, ...] | None:
        """Return the shape of a program's operand; None if its array is made during the call."""
        try:
            array = eval(ast.unparse(operand), self._scope)
        except NameError:
            return None
        return np.shape(array)


def _inspects_itself(thing: Any) -> bool:
    """Return whether a called object needs no inspection: a loop, or an op that returns views."""
    return getattr(thing, "inspects_itself", False) or getattr(
        getattr(thing, "__self__", None), "is_view", False
    )


def _are_flags_reliable(name: str, shape: tuple[int, ...], terms: int) -> bool:
    """Return whether the processor's flags are reliable after a matrix product.

    They are if the product is so small that one thread computes it, and if such a product sets
    flags at all.
    """
    is_of_vector = len(shape) < 2 or 1 in shape[-2:]
    few = FEW_OF_VECTOR if is_of_vector else math.prod(FEW)
    return math.prod(shape) * terms <= few and _products_set_flags(name)


@cache
def _products_set_flags(name: str) -> bool:
    """Return whether NumPy sets floating-point flags for small products of `name`, such as "dot".

    This depends on NumPy's version and its BLAS: `dot` of NumPy 2.0 sets none.
    """
    product: Callable[..., Any] = getattr(np, name)
    flags: dict[str, int] = {}
    rows, terms, columns = FEW
    are_set = []
    with np.errstate(all="ignore"), np.errstate(over="call", call=flags.__setitem__):
        for shape in ((rows, terms, columns), (1, terms, FEW_OF_VECTOR // terms), (4, 4, 4)):
            for dtype, large in (("float32", 1e30), ("float64", 1e300)):
                x, y = np.zeros(shape[:2], dtype), np.zeros(shape[1:], dtype)
                x[-1, -1] = y[-1, -1] = large
                flags.clear()
                product(x, y, out=np.empty((shape[0], shape[2]), dtype))
                are_set.append(bool(flags))
    return all(are_set)


# --- properties of arrays -------------------------------------------------------------------------


def is_sound(x: Any) -> bool:
    """Return whether all numbers of an array are finite, with a fast test first."""
    if x.__class__ is not np.ndarray:
        x = np.asarray(x)
    if x.dtype.kind not in "fc":
        return True
    # The sum of squares may overflow for finite numbers; it is finite only if all numbers are.
    numbers = x.ravel("K")
    return math.isfinite(abs(numbers.dot(numbers))) or bool(np.isfinite(x).all())


def _any_has(kind: str, arrays: Iterable[Any]) -> bool:
    test = {"nan": np.isnan, "inf": np.isinf}[kind]
    numbers = (x for x in arrays if getattr(x, "dtype", None) is not None and x.dtype.kind in "fc")
    return any(bool(np.any(test(x))) for x in numbers)
