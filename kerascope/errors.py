"""The tree of all errors that kerascope raises.

Each class also derives from the built-in class that a Keras script would catch, so `except
ValueError` keeps working::

    KerascopeError
    ├── ShapeError (ValueError)             a tensor or array has the wrong shape
    ├── DtypeError (TypeError)              a value has the wrong type
    │   └── PhaseAskedError                 `if training:` in a graph that serves both phases
    ├── ArgumentError (ValueError)          an argument makes no sense
    │   └── UnknownNameError                a name that is not registered
    ├── GraphError (ValueError)             the graph itself is wrong
    │   ├── CycleError                      a node depends on itself
    │   ├── DisconnectedGraphError          an output needs a tensor that no input feeds
    │   └── GradientError                   a gradient that does not exist
    ├── IllDefinedError (AttributeError)    `layer.output` of a layer called twice
    ├── NotCompiledError (RuntimeError)     fit before compile
    ├── NotBuiltError (RuntimeError)        weights before the input shape is known
    ├── DataError (ValueError)              arrays that do not fit the model
    ├── ConfigError (ValueError)            a configuration that cannot be read or written
    ├── VerificationError (RuntimeError)    a program's results differ from its steps
    ├── NonFiniteLossError (RuntimeError)   the loss is NaN or infinite, and a callback forbids it
    ├── WorkerError (RuntimeError)          a thread or process for batches failed
    ├── MissingToolError (RuntimeError)     a picture needs a missing program
    ├── DrawingError (RuntimeError)         Graphviz failed, or took too long
    ├── UnavailableError (OSError)          a file cannot be read, written or downloaded
    ├── RefusedError (NotImplementedError)  Keras has it; it makes no sense on NumPy
    │   ├── RefusedImportError (ImportError)        ... in `import tensorflow.contrib`
    │   └── RefusedAttributeError (AttributeError)  ... in `tf.Session`, `layers.JaxLayer`
    └── NotYetError                         Keras has it and kerascope does not yet
        ├── NotYetImportError (ImportError)         ... in `from kerascope.layers import RandomCrop`
        └── NotYetAttributeError (AttributeError)   ... in `layers.RandomCrop`

A message contains the place, the expected value, the given value, and the remedy::

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
        The layer, op or tensor that the message is about. Pictures highlight it.
    """

    def __init__(self, message: str, *, subject: Any = None) -> None:
        super().__init__(printable_lines(message.rstrip()))
        self.subject = subject


class ShapeError(KerascopeError, ValueError):
    """A tensor or array has the wrong shape.

    Cause: `K.dot` of (2, 3) with (4, 5). Fix: make the inner sizes agree.

    Examples
    --------
    >>> from kerascope import K
    >>> K.dot(K.ones((2, 3)), K.ones((4, 5)))
    Traceback (most recent call last):
    kerascope.errors.ShapeError: dot: expected equal inner sizes, got 3 and 4 in shapes (2, 3) and
    (4, 5).
    """


class DtypeError(KerascopeError, TypeError):
    """A value has the wrong type.

    Cause: a layer is called on a string. Fix: call it on a tensor or an array.
    """


class PhaseAskedError(DtypeError):
    """A `call` uses `if training:`, but the graph is for both phases.

    Cause: `return a if training else b`. Fix: `return K.in_train_phase(a, b, training)`.
    """


class ArgumentError(KerascopeError, ValueError):
    """An argument makes no sense.

    Cause: `Dense(-3)`. Fix: see the function's docstring for valid values.
    """


class UnknownNameError(ArgumentError):
    """A name that is not registered.

    Cause: `activation="rellu"`. Fix: the message suggests the nearest known name.
    """


class GraphError(KerascopeError, ValueError):
    """A graph of layers or ops is wrong; the subclasses say in which way."""


class CycleError(GraphError):
    """A node depends on itself.

    Attributes
    ----------
    cycle : list
        The nodes (or applies) along the cycle. The last item is the first item again.
    """

    def __init__(self, message: str, *, cycle: list[Any], subject: Any = None) -> None:
        super().__init__(message, subject=subject)
        self.cycle = cycle


class DisconnectedGraphError(GraphError):
    """An output needs a tensor that none of the inputs feeds.

    Cause: `Model(a, f(b))`. Fix: pass every Input that the output depends on.
    """


class GradientError(GraphError):
    """A gradient does not exist.

    Cause: the loss reaches a weight only through `argmax`. Fix: the message names the op.
    """


class IllDefinedError(KerascopeError, AttributeError):
    """A property such as `output` is undefined, because the layer has several calls.

    Cause: `layer.output` after two calls. Fix: `layer.get_output_at(node_index)`.
    """


class NotCompiledError(KerascopeError, RuntimeError):
    """A model without a loss cannot be trained. Fix: `model.compile(optimizer, loss)`."""


class NotBuiltError(KerascopeError, RuntimeError):
    """A layer or model has no weights yet, because its input shape is unknown."""


class DataError(KerascopeError, ValueError):
    """Arrays do not fit the model: their number, shapes or lengths are wrong."""


class ConfigError(KerascopeError, ValueError):
    """A configuration cannot be written, or cannot be converted to an object."""


class NotHereError(ConfigError):
    """A file contains unsupported features. Fix: `load_model(..., opaque=True)` opens it."""


class VerificationError(KerascopeError, RuntimeError):
    """A function's program and its steps have different results: a defect of kerascope.

    Cause: `K.function(..., verify=True)` or KERASCOPE_VERIFY=1 found a wrong result. Fix: report
    the defect. Until it is fixed, `K.function(..., rewrites=())` may avoid it, except in loops.

    Attributes
    ----------
    step : Apply or None
        The first step whose results differ; None if the results of all steps agree.
    got, expected : array or None
        The differing results of the program and of the step.
    """

    def __init__(
        self, message: str, *, step: Any = None, got: Any = None, expected: Any = None
    ) -> None:
        super().__init__(message, subject=step)
        self.step = step
        self.got = got
        self.expected = expected


class NonFiniteLossError(KerascopeError, RuntimeError):
    """The loss of a batch is NaN or infinite; raised by `TerminateOnNaN(raise_error=True)`."""


class WorkerError(KerascopeError, RuntimeError):
    """A thread or process that makes batches could not be started, or ended unexpectedly."""


class MissingToolError(KerascopeError, RuntimeError):
    """A picture needs a program that is not installed. The message says what to install."""


class DrawingError(KerascopeError, RuntimeError):
    """Graphviz failed on a picture, or took too long. Fix: close frames, or omit `engine="dot"`."""


class UnavailableError(KerascopeError, OSError):
    """A file cannot be read, written or downloaded."""


class NotYetError(KerascopeError):
    """A name of Keras that is not implemented yet. The message suggests an alternative."""


class NotYetImportError(NotYetError, ImportError):
    """A name that is not implemented yet was imported: `from keras.layers import RandomCrop`."""


class NotYetAttributeError(NotYetError, AttributeError):
    """A name that is not implemented yet was used: `layers.RandomCrop`. `hasattr` returns False."""


class RefusedError(KerascopeError, NotImplementedError):
    """A feature of Keras that makes no sense on NumPy was used. The message gives the reason."""


class RefusedImportError(RefusedError, ImportError):
    """A name that makes no sense on NumPy was imported, such as `tensorflow.contrib`."""


class RefusedAttributeError(RefusedError, AttributeError):
    """A name that makes no sense on NumPy was used, such as `tf.Session` or `layers.JaxLayer`."""


class KerascopeWarning(UserWarning):
    """Base of all warnings of this package."""


class SpellingWarning(KerascopeWarning):
    """An old keyword or name was used. The message gives the new one."""


class NumericsWarning(KerascopeWarning):
    """A loss became NaN or infinite; the message names the epoch and the batch."""
