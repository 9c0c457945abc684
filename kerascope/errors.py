"""Everything that kerascope raises, in one tree.

Each class is also the built-in class that a Keras script would catch, so `except ValueError` keeps
working::

    KerascopeError
    ├── ShapeError (ValueError)             a tensor or array has the wrong shape
    ├── DtypeError (TypeError)              a value has the wrong type
    │   └── PhaseAskedError                 `if training:` in a graph that serves both phases
    ├── ArgumentError (ValueError)          an argument makes no sense
    │   └── UnknownNameError                a name that no registry holds
    ├── GraphError (ValueError)             the graph itself is wrong
    │   ├── CycleError                      a node depends on itself
    │   ├── DisconnectedGraphError          an output needs a tensor that no input feeds
    │   └── GradientError                   a derivative was asked that does not exist
    ├── IllDefinedError (AttributeError)    `layer.output` of a layer called twice
    ├── NotCompiledError (RuntimeError)     fit before compile
    ├── NotBuiltError (RuntimeError)        weights before the input shape is known
    ├── DataError (ValueError)              arrays that do not fit the model
    ├── ConfigError (ValueError)            a configuration that cannot be read or written
    ├── VerificationError (RuntimeError)    a program computes other numbers than its steps
    ├── NonFiniteLossError (RuntimeError)   the loss is NaN or infinite, and a callback forbids it
    ├── WorkerError (RuntimeError)          a thread or process that makes batches failed
    ├── MissingToolError (RuntimeError)     a picture needs a program that is not here
    ├── DrawingError (RuntimeError)         Graphviz failed, or took too long
    ├── UnavailableError (OSError)          a file cannot be read or written, or is not to be had
    ├── RefusedError (NotImplementedError)  Keras has it; on NumPy it has no meaning
    │   ├── RefusedImportError (ImportError)        ... in `import tensorflow.contrib`
    │   └── RefusedAttributeError (AttributeError)  ... in `tf.Session`, `layers.JaxLayer`
    └── NotYetError                         Keras has it and kerascope does not yet
        ├── NotYetImportError (ImportError)         ... in `from kerascope.layers import RandomCrop`
        └── NotYetAttributeError (AttributeError)   ... in `layers.RandomCrop`

A message says where, what was expected, what came, and what to do::

    Dense 'dense_1': expected an input with 2 axes, got 3 (None, 4, 5). Add Flatten() before it.
"""

from __future__ import annotations

from typing import Any

from kerascope.printable import printable_lines


class KerascopeError(Exception):
    """Base of all errors of this package.

    Attributes
    ----------
    subject : object or None
        The layer, op or tensor that the message speaks of, so that a picture can mark it.
    """

    def __init__(self, message: str, *, subject: Any = None) -> None:
        super().__init__(printable_lines(message.rstrip()))
        self.subject = subject


class ShapeError(KerascopeError, ValueError):
    """A tensor or array has the wrong shape.

    Cause: `K.dot` of (2, 3) with (4, 5). Fix: make the inner sizes agree.
    """


class DtypeError(KerascopeError, TypeError):
    """A value has the wrong type.

    Cause: a layer is called on a string. Fix: call it on a tensor or an array.
    """


class PhaseAskedError(DtypeError):
    """A `call` says `if training:`, but the graph that is being made serves both phases.

    Cause: `return a if training else b`. Fix: `return K.in_train_phase(a, b, training)`.
    """


class ArgumentError(KerascopeError, ValueError):
    """An argument makes no sense.

    Cause: `Dense(-3)`. Fix: give what the docstring of the function says.
    """


class UnknownNameError(ArgumentError):
    """A name that no registry holds.

    Cause: `activation="rellu"`. Fix: the message suggests the nearest known name.
    """


class GraphError(KerascopeError, ValueError):
    """The graph itself is wrong; see the subclasses."""


class CycleError(GraphError):
    """A node depends on itself.

    Attributes
    ----------
    cycle : list
        The nodes (or applies) along the cycle, first repeated last.
    """

    def __init__(self, message: str, *, cycle: list[Any], subject: Any = None) -> None:
        super().__init__(message, subject=subject)
        self.cycle = cycle


class DisconnectedGraphError(GraphError):
    """An output needs a tensor that none of the inputs feeds.

    Cause: `Model(a, f(b))`. Fix: pass every Input that the output depends on.
    """


class GradientError(GraphError):
    """A derivative was asked that does not exist.

    Cause: the loss reaches a weight only through `argmax`. Fix: the message names the op.
    """


class IllDefinedError(KerascopeError, AttributeError):
    """A property that has one meaning per call of the layer, asked of a layer with several.

    Cause: `layer.output` after two calls. Fix: `layer.get_output_at(node_index)`.
    """


class NotCompiledError(KerascopeError, RuntimeError):
    """Training was asked of a model that has no loss yet. Fix: `model.compile(optimizer, loss)`."""


class NotBuiltError(KerascopeError, RuntimeError):
    """Weights were asked of a layer or model that does not know its input shape yet."""


class DataError(KerascopeError, ValueError):
    """Arrays that do not fit the model: their number, their shapes or their lengths."""


class ConfigError(KerascopeError, ValueError):
    """A configuration that cannot be written, or cannot be turned back into an object."""


class NotHereError(ConfigError):
    """A file asks for what has no counterpart here: `load_model(..., opaque=True)` opens it."""


class VerificationError(KerascopeError, RuntimeError):
    """A function's program computes other numbers than its steps, or would: a fault of kerascope.

    Cause: `K.function(..., verify=True)`, or KERASCOPE_VERIFY=1, has found what would have gone
    wrong in silence, inside a loop perhaps. Fix: report it; until then, outside of loops,
    `K.function(..., rewrites=())`.

    Attributes
    ----------
    step : Apply or None
        The first that differs; None if each by itself agrees.
    got, expected : array or None
        What the program computed there, and what the step does.
    """

    def __init__(
        self, message: str, *, step: Any = None, got: Any = None, expected: Any = None
    ) -> None:
        super().__init__(message, subject=step)
        self.step = step
        self.got = got
        self.expected = expected


class NonFiniteLossError(KerascopeError, RuntimeError):
    """The loss of a batch is NaN or infinite, and `TerminateOnNaN(raise_error=True)` watches it."""


class WorkerError(KerascopeError, RuntimeError):
    """A thread or process that should make batches was not started, or ended by itself."""


class MissingToolError(KerascopeError, RuntimeError):
    """A picture needs a program that is not installed; the message names the remedies."""


class DrawingError(KerascopeError, RuntimeError):
    """Graphviz failed on a picture, or took too long. Fix: collapse it, or use our own layout."""


class UnavailableError(KerascopeError, OSError):
    """A file is not on this machine and could not be fetched, or cannot be written."""


class NotYetError(KerascopeError):
    """A name of Keras that is not here yet; the message says what to use instead."""


class NotYetImportError(NotYetError, ImportError):
    """A name that is not here yet was imported: `from kerascope.layers import RandomCrop`."""


class NotYetAttributeError(NotYetError, AttributeError):
    """A name that is not here yet was used: `layers.RandomCrop`; `hasattr` is False."""


class RefusedError(KerascopeError, NotImplementedError):
    """A part of Keras that has no meaning on NumPy was used; the message says why."""


class RefusedImportError(RefusedError, ImportError):
    """A part of Keras without meaning on NumPy was imported, or TensorFlow beside `tf.keras`."""


class RefusedAttributeError(RefusedError, AttributeError):
    """A part of Keras without meaning on NumPy was used, or TensorFlow beside `tf.keras`."""


class KerascopeWarning(UserWarning):
    """Base of all warnings of this package."""


class SpellingWarning(KerascopeWarning):
    """An old keyword or name was used; the message gives today's."""


class NumericsWarning(KerascopeWarning):
    """A loss became NaN or infinite; the message names the epoch and the batch."""
