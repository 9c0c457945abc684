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
        ├── NotYetImportError (ImportError)         ... in `from kerascope.layers import MixUp`
        └── NotYetAttributeError (AttributeError)   ... in `layers.MixUp`

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

    Examples
    --------
    >>> from kerascope.layers import Dense
    >>> try:
    ...     Dense(1, name="scores").count_params()
    ... except KerascopeError as error:
    ...     print(type(error).__name__, error.subject)
    NotBuiltError <Dense scores>
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
        ...
    kerascope.errors.ShapeError: dot: expected equal inner sizes, got 3 and 4 in shapes (2, 3) and
    (4, 5).
    """


class DtypeError(KerascopeError, TypeError):
    """A value has the wrong type.

    Cause: a layer is called on a string. Fix: call it on a tensor or an array.

    Examples
    --------
    >>> from kerascope.layers import Dense
    >>> Dense(2, name="scores")("words")
    Traceback (most recent call last):
        ...
    kerascope.errors.DtypeError: Dense 'scores': was called with an input that isn't a symbolic
    tensor. Expected a tensor or an array, got str 'words'. Call it on Input(...) or on a layer's
    output.
    """


class PhaseAskedError(DtypeError):
    """A `call` uses `if training:`, but the graph is for both phases.

    Cause: `return a if training else b`. Fix: `return K.in_train_phase(a, b, training)`.

    Examples
    --------
    >>> from kerascope import K
    >>> 1.0 if K.learning_phase() else 0.0
    Traceback (most recent call last):
        ...
    kerascope.errors.PhaseAskedError: training is a symbol here, neither true nor false: one graph
    serves training and test. Write K.in_train_phase(a, b, training) for `a if training else b`.
    """


class ArgumentError(KerascopeError, ValueError):
    """An argument makes no sense.

    Cause: `Dense(-3)`. Fix: see the function's docstring for valid values.

    Examples
    --------
    >>> from kerascope.layers import Dense
    >>> Dense(-3, name="scores")
    Traceback (most recent call last):
        ...
    kerascope.errors.ArgumentError: Dense 'scores': units: expected a whole number above 0, got -3.
    """


class UnknownNameError(ArgumentError):
    """A name that is not registered.

    Cause: `activation="rellu"`. Fix: the message suggests the nearest known name.

    Examples
    --------
    >>> from kerascope.layers import Dense
    >>> Dense(2, activation="rellu")
    Traceback (most recent call last):
        ...
    kerascope.errors.UnknownNameError: Unknown activation 'rellu'. Did you mean 'relu'? Known: ...
    """


class GraphError(KerascopeError, ValueError):
    """A graph of layers or ops is wrong; the subclasses say in which way.

    Examples
    --------
    >>> from kerascope import K
    >>> try:
    ...     K.gradients(K.argmax([1.0, 2.0]), [])
    ... except GraphError as error:
    ...     print(type(error).__name__)
    GradientError
    """


class CycleError(GraphError):
    """A node depends on itself.

    Attributes
    ----------
    cycle : list
        The nodes (or applies) along the cycle. The last item is the first item again.

    Examples
    --------
    >>> from kerascope import Input, Model
    >>> from kerascope.layers import Dense
    >>> x, layer = Input((2,), name="x"), Dense(2, name="a")
    >>> y = layer(x)
    >>> layer.inbound_nodes[0].input_tensors[0] = y  # calls alone cannot make a cycle
    >>> Model(x, y)
    Traceback (most recent call last):
        ...
    kerascope.errors.CycleError: The tensor ... at layer "a" is part of a cycle. a_ib-0 <- a_ib-0.
    """

    def __init__(self, message: str, *, cycle: list[Any], subject: Any = None) -> None:
        super().__init__(message, subject=subject)
        self.cycle = cycle


class DisconnectedGraphError(GraphError):
    """An output needs a tensor that none of the inputs feeds.

    Cause: `Model(a, f(b))`. Fix: pass every Input that the output depends on.

    Examples
    --------
    >>> from kerascope import Input, Model
    >>> from kerascope.layers import Add
    >>> a, b = Input((2,), name="a"), Input((2,), name="b")
    >>> Model(a, Add()([a, b]))
    Traceback (most recent call last):
        ...
    kerascope.errors.DisconnectedGraphError: Graph disconnected: cannot obtain value for tensor b at
    layer "b". ... Pass every Input that the outputs depend on.
    """


class GradientError(GraphError):
    """A gradient does not exist.

    Cause: the loss reaches a weight only through `argmax`. Fix: the message names the op.

    Examples
    --------
    >>> from kerascope import K
    >>> from kerascope.optimizers import SGD
    >>> w = K.variable([1.0, 2.0], name="w")
    >>> SGD().get_gradients(K.cast(K.argmax(w), "float32"), [w])
    Traceback (most recent call last):
        ...
    kerascope.errors.GradientError: get_gradients: parameter 'w' gets no gradient from the loss ...
    It stops at 'argmax...' ... Use an op that has a derivative.
    """


class IllDefinedError(KerascopeError, AttributeError):
    """A property such as `output` is undefined, because the layer has several calls.

    Cause: `layer.output` after two calls. Fix: `layer.get_output_at(node_index)`.

    Examples
    --------
    >>> from kerascope import Input
    >>> from kerascope.layers import Dense
    >>> layer = Dense(2, name="shared")
    >>> first, second = layer(Input((3,))), layer(Input((3,)))
    >>> layer.output
    Traceback (most recent call last):
        ...
    kerascope.errors.IllDefinedError: Layer shared has multiple inbound nodes, hence the notion of
    "layer output" is ill-defined. Use get_output_at(node_index) instead.
    """


class NotCompiledError(KerascopeError, RuntimeError):
    """A model without a loss cannot be trained. Fix: `model.compile(optimizer, loss)`.

    Examples
    --------
    >>> from kerascope import Sequential
    >>> from kerascope.layers import Dense
    >>> Sequential([Dense(1, input_shape=(2,))], name="small").fit([[1.0, 2.0]], [3.0])
    Traceback (most recent call last):
        ...
    kerascope.errors.NotCompiledError: Sequential 'small': You must compile a model before
    training/testing. Use `model.compile(optimizer, loss)`.
    """


class NotBuiltError(KerascopeError, RuntimeError):
    """A layer or model has no weights yet, because its input shape is unknown.

    Examples
    --------
    >>> from kerascope.layers import Dense
    >>> Dense(1, name="scores").count_params()
    Traceback (most recent call last):
        ...
    kerascope.errors.NotBuiltError: Dense 'scores': count_params: the layer has no weights before it
    is built. Call it, or give it an input_shape.
    """


class DataError(KerascopeError, ValueError):
    """Arrays do not fit the model: their number, shapes or lengths are wrong.

    Examples
    --------
    >>> from kerascope import Sequential
    >>> from kerascope.layers import Dense
    >>> Sequential([Dense(1, input_shape=(2,), name="out")]).predict([[1.0, 2.0, 3.0]])
    Traceback (most recent call last):
        ...
    kerascope.errors.DataError: x for 'out_input': expected an array of shape (None, 2), got (1, 3).
    """


class ConfigError(KerascopeError, ValueError):
    """A configuration cannot be written, or cannot be converted to an object.

    Examples
    --------
    >>> from kerascope.models import model_from_json
    >>> model_from_json("{")
    Traceback (most recent call last):
        ...
    kerascope.errors.ConfigError: model_from_json: its configuration is not valid JSON (...).
    """


class NotHereError(ConfigError):
    """A file contains unsupported features. Fix: `load_model(..., opaque=True)` opens it.

    Examples
    --------
    >>> import json
    >>> from kerascope.models import model_from_json
    >>> policy = {"class_name": "DTypePolicy", "config": {"name": "int8"}}
    >>> dense = {"class_name": "Dense", "config": {"units": 1, "dtype": policy}}
    >>> model = {"module": "keras", "registered_name": None, "class_name": "Sequential"}
    >>> model_from_json(json.dumps({**model, "config": {"layers": [dense]}}))
    Traceback (most recent call last):
        ...
    kerascope.errors.NotHereError: model_from_json: The dtype policy 'int8' is not supported. ...
    """


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

    Examples
    --------
    >>> issubclass(VerificationError, RuntimeError)
    True
    """

    def __init__(
        self, message: str, *, step: Any = None, got: Any = None, expected: Any = None
    ) -> None:
        super().__init__(message, subject=step)
        self.step = step
        self.got = got
        self.expected = expected


class NonFiniteLossError(KerascopeError, RuntimeError):
    """The loss of a batch is NaN or infinite; raised by `TerminateOnNaN(raise_error=True)`.

    Examples
    --------
    >>> from kerascope.callbacks import TerminateOnNaN
    >>> TerminateOnNaN(raise_error=True).on_batch_end(0, {"loss": float("nan")})
    Traceback (most recent call last):
        ...
    kerascope.errors.NonFiniteLossError: TerminateOnNaN: expected a finite loss for batch 0, got
    nan. Try a smaller learning rate or clipnorm=1.0, or look for NaN in the data.
    """


class WorkerError(KerascopeError, RuntimeError):
    """A thread or process that makes batches could not be started, or ended unexpectedly.

    Examples
    --------
    >>> from kerascope.utils import OrderedEnqueuer
    >>> next(OrderedEnqueuer([]).get())
    Traceback (most recent call last):
        ...
    kerascope.errors.WorkerError: OrderedEnqueuer: it does not run. Call start() first.
    """


class MissingToolError(KerascopeError, RuntimeError):
    """A picture needs a program that is not installed. The message says what to install.

    Examples
    --------
    >>> issubclass(MissingToolError, RuntimeError)
    True
    """


class DrawingError(KerascopeError, RuntimeError):
    """Graphviz failed on a picture, or took too long. Fix: close frames, or omit `engine="dot"`.

    Examples
    --------
    >>> issubclass(DrawingError, RuntimeError)
    True
    """


class UnavailableError(KerascopeError, OSError):
    """A file cannot be read, written or downloaded.

    Examples
    --------
    >>> from kerascope.models import load_model
    >>> load_model("nowhere.keras")
    Traceback (most recent call last):
        ...
    kerascope.errors.UnavailableError: there is no file 'nowhere.keras'.
    """


class NotYetError(KerascopeError):
    """A name or feature of Keras that is not implemented yet. The message suggests an alternative.

    Examples
    --------
    >>> from kerascope import Input
    >>> from kerascope.layers import StringLookup
    >>> StringLookup(vocabulary=["a", "b"], name="index")(Input((1,), name="words"))
    Traceback (most recent call last):
        ...
    kerascope.errors.NotYetError: StringLookup 'index': expected a list or an array, got the
    symbolic tensor 'words'. Call it on the data: model.fit(layer(data), ...).
    """


class NotYetImportError(NotYetError, ImportError):
    """A name that is not implemented yet was imported: `from keras.layers import MixUp`.

    Examples
    --------
    >>> from kerascope.layers import MixUp
    Traceback (most recent call last):
        ...
    kerascope.errors.NotYetImportError: kerascope.layers.MixUp: Keras has it, kerascope does not
    yet. ...
    """


class NotYetAttributeError(NotYetError, AttributeError):
    """A name that is not implemented yet was used: `layers.MixUp`. `hasattr` returns False.

    Examples
    --------
    >>> from kerascope import layers
    >>> hasattr(layers, "MixUp")
    False
    >>> layers.MixUp
    Traceback (most recent call last):
        ...
    kerascope.errors.NotYetAttributeError: kerascope.layers.MixUp: Keras has it, kerascope does not
    yet. ...
    """


class RefusedError(KerascopeError, NotImplementedError):
    """A feature of Keras that makes no sense on NumPy was used. The message gives the reason.

    Examples
    --------
    >>> from kerascope.layers import CuDNNLSTM
    >>> CuDNNLSTM(3)
    Traceback (most recent call last):
        ...
    kerascope.errors.RefusedError: kerascope.layers.CuDNNLSTM: It runs only on NVIDIA cards.
    LSTM(units, recurrent_activation='sigmoid') computes the same.
    """


class RefusedImportError(RefusedError, ImportError):
    """A name that makes no sense on NumPy was imported, such as `tensorflow.contrib`.

    Examples
    --------
    >>> from kerascope.compat import keras_imports
    >>> with keras_imports():
    ...     import tensorflow.contrib
    Traceback (most recent call last):
        ...
    kerascope.errors.RefusedImportError: tensorflow.contrib: TensorFlow is not here; kerascope
    supplies only tensorflow.keras. Use kerascope.backend (keras.backend) for tensors, and NumPy for
    arrays.
    """


class RefusedAttributeError(RefusedError, AttributeError):
    """A name that makes no sense on NumPy was used, such as `tf.Session` or `layers.JaxLayer`.

    Examples
    --------
    >>> from kerascope import layers
    >>> layers.JaxLayer
    Traceback (most recent call last):
        ...
    kerascope.errors.RefusedAttributeError: kerascope.layers.JaxLayer: It wraps what JAX computes,
    and there is no JAX here. Write it as a layer.
    """


class KerascopeWarning(UserWarning):
    """Base of all warnings of this package.

    Examples
    --------
    >>> import warnings
    >>> from kerascope.layers import Dense
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("ignore", KerascopeWarning)
    ...     layer = Dense(output_dim=3)
    >>> layer.units
    3
    """


class SpellingWarning(KerascopeWarning):
    """An old keyword or name was used. The message gives the new one.

    Examples
    --------
    >>> import warnings
    >>> from kerascope.layers import Dense
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     layer = Dense(output_dim=3)
    >>> print(caught[0].message)
    Dense: 'output_dim' is Keras 1's word; today it is 'units'.
    """


class NumericsWarning(KerascopeWarning):
    """A loss became NaN or infinite; the message names the epoch and the batch.

    Examples
    --------
    >>> import warnings
    >>> from kerascope import Sequential
    >>> from kerascope.layers import Dense
    >>> model = Sequential([Dense(1, input_shape=(1,))])
    >>> model.compile("sgd", "mse")
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     history = model.fit([[float("nan")]], [[1.0]], verbose=0)
    >>> print(caught[0].message)
    fit: the loss became nan in epoch 0, batch 0 (both counted from 0). The weights are probably
    unusable from here on. ...
    """
