"""Wraps models as estimators of scikit-learn, for `cross_val_score`, `GridSearchCV`, `Pipeline`.

An estimator has a function that builds and compiles a model, and arguments for this function and
for `fit`. A search tries different values of these arguments. scikit-learn only calls a few methods
of an estimator, so this module does not import it. Keras has these classes in
`keras.wrappers.scikit_learn`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from kerascope.engine.base_layer import Layer
from kerascope.engine.sequential import Sequential
from kerascope.errors import ArgumentError, DataError, DtypeError, NotBuiltError
from kerascope.registry import did_you_mean
from kerascope.spellings import KEYWORDS, translate
from kerascope.utils.np_utils import to_categorical

__all__ = ["BaseWrapper", "KerasClassifier", "KerasRegressor"]

# Arguments of a model's methods that an estimator accepts, without x and y.
_METHODS = {
    "fit": (
        *("batch_size", "epochs", "verbose", "callbacks", "validation_split", "validation_data"),
        *("shuffle", "class_weight", "sample_weight", "initial_epoch", "steps_per_epoch"),
        *("validation_steps",),
    ),
    "predict": ("batch_size", "verbose", "steps"),
    "evaluate": ("batch_size", "verbose", "sample_weight", "steps"),
}
_DATA = ("self", "x", "y")


class BaseWrapper:
    """Base class of KerasClassifier and KerasRegressor. It has the methods that scikit-learn calls.

    Parameters
    ----------
    build_fn : callable, optional
        Returns a compiled model: a function, or an object that can be called. A subclass may write
        `__call__` instead.
    **sk_params
        Arguments of `build_fn`, and of the model's `fit`, `predict` and `evaluate`.

    Attributes
    ----------
    model : Model
        Exists after `fit`, which builds a new model each time.

    Raises
    ------
    ArgumentError
        If an argument belongs neither to `build_fn` nor to a method of the model.

    Examples
    --------
    Each function gets those of the estimator's arguments that it accepts:

    >>> def build(units=4):
    ...     return Sequential()
    >>> estimator = BaseWrapper(build, units=8, epochs=2)
    >>> estimator.filter_sk_params(build), estimator.filter_sk_params(Sequential.fit)
    ({'units': 8}, {'epochs': 2})
    >>> estimator.set_params(units=16)
    BaseWrapper(build_fn=build, units=16, epochs=2)
    """

    _kind = "estimator"

    def __init__(self, build_fn: Callable[..., Any] | None = None, **sk_params: Any) -> None:
        self.build_fn = build_fn
        self.sk_params = sk_params
        self.check_params(sk_params)

    def __repr__(self) -> str:
        build_fn = self.build_fn
        name = getattr(build_fn, "__name__", type(build_fn).__name__)
        words = [f"{key}={value!r}" for key, value in self.sk_params.items()]
        return f"{type(self).__name__}({', '.join([f'build_fn={name}', *words])})"

    # --- arguments --------------------------------------------------------------------------------

    def _builder(self) -> Callable[..., Any]:
        """Return the function that builds the model.

        Raises
        ------
        DtypeError
            If `build_fn` is missing or not callable.
        """
        builder: Any = self if self.build_fn is None else self.build_fn
        if not callable(builder) or isinstance(builder, Layer):  # a model is a layer
            raise DtypeError(
                f"{type(self).__name__}: expected build_fn to return a compiled model, got "
                f"{self.build_fn!r}. Give a function, not the model itself."
            )
        return builder

    def check_params(self, params: Mapping[str, Any]) -> None:
        """Check that `build_fn` or a method of the model has the given arguments.

        Raises
        ------
        ArgumentError
            If an argument is unknown.
        """
        known = _argument_names(self._builder()).union(*_METHODS.values(), KEYWORDS["fit"])
        for name in params:
            if name not in known:
                raise ArgumentError(
                    f"{type(self).__name__}: unknown argument {name!r}. Give arguments of build_fn "
                    f"or the model's fit, predict and evaluate. {did_you_mean(name, sorted(known))}"
                )

    def get_params(self, **params: Any) -> dict[str, Any]:
        """Return the arguments of the estimator; `**params` (scikit-learn's `deep`) are ignored.

        The values are not copied, because `sklearn.base.clone` compares identities.
        """
        return {**self.sk_params, "build_fn": self.build_fn}

    def set_params(self, **params: Any) -> BaseWrapper:
        """Change arguments of the estimator, and return it.

        Raises
        ------
        ArgumentError
            If an argument is unknown. Nothing is changed in this case.
        """
        before = self.build_fn
        self.build_fn = params.pop("build_fn", before)
        try:
            self.check_params(params)
        except (ArgumentError, DtypeError):
            self.build_fn = before
            raise
        self.sk_params = {**self.sk_params, **params}
        return self

    def filter_sk_params(
        self, fn: Callable[..., Any], override: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """Return the arguments of the estimator that a function accepts.

        Parameters
        ----------
        fn : callable
            The function that builds the model, or a method of the model.
        override : mapping, optional
            Arguments that are always included.
        """
        given = self.sk_params
        if getattr(fn, "__name__", "") == "fit":
            given, override = translate("fit", given), translate("fit", override or {})
        names = _argument_names(fn)
        chosen = {name: value for name, value in given.items() if name in names}
        return {**chosen, **(override or {})}

    # --- training ---------------------------------------------------------------------------------

    def fit(self, x: ArrayLike, y: ArrayLike, **kwargs: Any) -> Any:
        """Build a new model and train it.

        Parameters
        ----------
        x, y : array_like
            Samples along the first axis.
        **kwargs
            Arguments of the model's `fit`, which override those of the estimator.

        Returns
        -------
        History
        """
        builder = self._builder()
        self.model = builder(**self.filter_sk_params(builder))
        targets = self._targets(y)
        self.history = self.model.fit(x, targets, **self.filter_sk_params(Sequential.fit, kwargs))
        return self.history

    def _targets(self, y: ArrayLike) -> np.ndarray:
        """Return the targets `y` in the form that the loss of the model requires."""
        targets = np.asarray(y)
        if _loss_name(self.model) == "categorical_crossentropy" and targets.ndim != 2:
            return to_categorical(targets, self.model.output_shape[-1])
        return targets

    def _fitted(self) -> Any:
        """Return the trained model.

        Raises
        ------
        NotBuiltError
            If the model was not trained yet.
        """
        if not self.__sklearn_is_fitted__():
            raise NotBuiltError(f"{type(self).__name__}: there is no model. Call fit first.")
        return self.model

    # --- methods that scikit-learn calls ----------------------------------------------------------

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model")

    def __sklearn_tags__(self) -> Any:
        """Return scikit-learn's tags, which say whether this is a classifier or a regressor."""
        from sklearn.utils import ClassifierTags, InputTags, RegressorTags, Tags, TargetTags

        return Tags(
            estimator_type=self._kind,
            target_tags=TargetTags(required=True),
            transformer_tags=None,
            classifier_tags=ClassifierTags() if self._kind == "classifier" else None,
            regressor_tags=RegressorTags() if self._kind == "regressor" else None,
            input_tags=InputTags(),
        )


class KerasClassifier(BaseWrapper):
    """A model that predicts classes, as a scikit-learn classifier.

    Attributes
    ----------
    classes_ : ndarray
        The sorted labels. Output i of the model is the probability of `classes_[i]`.
    n_classes_ : int

    Examples
    --------
    >>> from kerascope.layers import Dense
    >>> def build(units=4):
    ...     layers = [Dense(units, input_shape=(2,)), Dense(3, activation="softmax")]
    ...     model = Sequential(layers)
    ...     model.compile("sgd", "categorical_crossentropy", metrics=["accuracy"])
    ...     return model
    >>> estimator = KerasClassifier(build, units=8, epochs=2, verbose=0)
    >>> history = estimator.fit(np.ones((6, 2)), ["a", "b", "c", "a", "b", "c"])
    >>> estimator.predict_proba(np.ones((4, 2))).shape
    (4, 3)
    >>> estimator.predict(np.ones((4, 2))).dtype.kind
    'U'
    """

    _kind = _estimator_type = "classifier"

    def fit(
        self, x: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None, **kwargs: Any
    ) -> Any:
        """Build a new model and train it; `y` are labels of any type, or one-hot rows.

        Returns
        -------
        History

        Raises
        ------
        ArgumentError
            If `y` has neither 1 nor 2 axes.
        """
        labels = np.asarray(y)
        if labels.ndim == 2 and labels.shape[1] > 1:
            self.classes_ = np.arange(labels.shape[1])
        elif labels.ndim in (1, 2):
            self.classes_ = np.unique(labels)
            labels = self._numbers(labels)
        else:
            raise ArgumentError(
                f"KerasClassifier: expected one label for each sample or one-hot rows, got y of "
                f"shape {labels.shape}."
            )
        self.n_classes_ = len(self.classes_)
        if sample_weight is not None:
            kwargs["sample_weight"] = sample_weight
        return super().fit(x, labels, **kwargs)

    def _numbers(self, labels: np.ndarray) -> np.ndarray:
        """Return the index of each label in `classes_`.

        Raises
        ------
        DataError
            If a label is unknown.
        """
        flat = labels.reshape(-1)
        numbers = np.searchsorted(self.classes_, flat)
        unknown = self.classes_[np.minimum(numbers, len(self.classes_) - 1)] != flat
        if unknown.any():
            raise DataError(
                f"KerasClassifier: expected labels out of {self.classes_.tolist()}, got "
                f"{flat[unknown].tolist()[0]!r} in y."
            )
        return numbers

    def predict(self, x: ArrayLike, **kwargs: Any) -> np.ndarray:
        """Return the label of each sample.

        Raises
        ------
        ArgumentError
            If the number of the model's outputs differs from the number of classes in `fit`.
        """
        scores = self._scores(x, kwargs)
        outputs, known = scores.shape[-1], len(self.classes_)
        numbers = scores.argmax(axis=-1) if outputs > 1 else (scores[..., 0] > 0.5).astype("int32")
        if known > max(outputs, 2) or numbers.max(initial=0) >= known:
            raise ArgumentError(
                f"KerasClassifier: expected outputs for the classes {self.classes_.tolist()} of "
                f"fit, got {max(outputs, 2)} classes."
            )
        return self.classes_[numbers]

    def predict_proba(self, x: ArrayLike, **kwargs: Any) -> np.ndarray:
        """Return the probability of each class, shape (samples, classes).

        A model with one output has two classes.
        """
        scores = self._scores(x, kwargs)
        if scores.shape[-1] == 1:
            return np.concatenate([1 - scores, scores], axis=-1)
        return scores

    def _scores(self, x: ArrayLike, arguments: dict[str, Any]) -> np.ndarray:
        model = self._fitted()
        return np.asarray(model.predict(x, **self.filter_sk_params(Sequential.predict, arguments)))

    def score(self, x: ArrayLike, y: ArrayLike, **kwargs: Any) -> float:
        """Return the accuracy of the predictions.

        Raises
        ------
        ArgumentError
            If the model was compiled without accuracy.
        DataError
            If `y` has a label that was not in the training data.
        """
        model = self._fitted()
        labels = np.asarray(y)
        if labels.ndim == 1 or labels.shape[1] == 1:
            labels = self._numbers(labels)
        arguments = {"verbose": 0, **self.filter_sk_params(Sequential.evaluate, kwargs)}
        outs = model.evaluate(x, self._targets(labels), **arguments)
        figures = dict(zip(model.metrics_names, np.atleast_1d(outs), strict=True))
        for name in ("acc", "accuracy"):
            if name in figures:
                return float(figures[name])
        raise ArgumentError(
            f"KerasClassifier: compile the model with metrics=['accuracy']. Its metrics are: "
            f"{', '.join(figures)}."
        )


class KerasRegressor(BaseWrapper):
    """A model that predicts numbers, as a scikit-learn regressor.

    Examples
    --------
    >>> from kerascope.layers import Dense
    >>> def build():
    ...     model = Sequential([Dense(1, input_shape=(2,))])
    ...     model.compile("sgd", "mse")
    ...     return model
    >>> estimator = KerasRegressor(build, epochs=2, verbose=0)
    >>> history = estimator.fit(np.ones((6, 2)), np.ones(6))
    >>> estimator.predict(np.ones((4, 2))).shape
    (4,)
    """

    _kind = _estimator_type = "regressor"

    def predict(self, x: ArrayLike, **kwargs: Any) -> np.ndarray:
        """Return the prediction of each sample: a number, or a row for several outputs."""
        model = self._fitted()
        arguments = self.filter_sk_params(Sequential.predict, kwargs)
        outputs = np.asarray(model.predict(x, **arguments))
        return outputs[..., 0] if outputs.shape[-1] == 1 else outputs

    def score(self, x: ArrayLike, y: ArrayLike, **kwargs: Any) -> float:
        """Return the negative loss, so that higher scores are better."""
        model = self._fitted()
        arguments = {"verbose": 0, **self.filter_sk_params(Sequential.evaluate, kwargs)}
        outs = model.evaluate(x, np.asarray(y), **arguments)
        return -float(np.atleast_1d(outs)[0])


def _argument_names(fn: Callable[..., Any]) -> set[str]:
    """Return the names of a function's arguments; for a model's method, without x and y."""
    parameters = inspect.signature(fn).parameters.values()
    names = {p.name for p in parameters if p.kind not in (p.VAR_KEYWORD, p.VAR_POSITIONAL)}
    if fn in (Sequential.fit, Sequential.predict, Sequential.evaluate):
        names.update(_METHODS[fn.__name__])
        names.difference_update(_DATA)
    return names


def _loss_name(model: Any) -> str:
    """Return the name of the model's loss, or "" for a loss without a name."""
    loss = model.loss
    if isinstance(loss, str):
        return loss
    words = getattr(loss, "__name__", None) or getattr(loss, "name", None) or ""
    return str(words)
