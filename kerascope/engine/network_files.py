"""What a network has to do with files and people: save, load_weights, to_json, summary."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from kerascope.engine import saving
from kerascope.engine.network_books import NetworkBooks
from kerascope.engine.summary import print_summary


class NetworkFiles(NetworkBooks):
    """The part of `Network` that writes and reads files, and prints itself."""

    _is_part = True

    # --- files ------------------------------------------------------------------------------------

    def to_json(self, **kwargs: Any) -> str:
        """Return the configuration as JSON, without weights; `models.model_from_json` reads it.

        Its words are those of an .h5 file: in dialect "3", and where only Keras 3 has a name for
        what the model does, they are Keras 3's.

        `**kwargs` go to `json.dumps`: `indent=2`, ...
        """
        version, config = saving.file_functions.lookup("written_config")(self)
        return json.dumps({**config, "keras_version": version}, **kwargs)

    def to_yaml(self, **kwargs: Any) -> str:
        """Return the configuration as YAML; `models.model_from_yaml` reads it.

        What is written is JSON, which every reader of YAML understands: so nothing needs to be
        installed. `**kwargs` go to `json.dumps`.
        """
        return self.to_json(**{"indent": 2, **kwargs})

    def save(self, filepath: Any, overwrite: bool = True, include_optimizer: bool = True) -> None:
        """Write the whole model to a .keras or .h5 file; see `kerascope.saving.save_model`."""
        saving.file_functions.lookup("save_model")(self, filepath, overwrite, include_optimizer)

    def save_weights(self, filepath: Any, overwrite: bool = True) -> None:
        """Write the weights to a .weights.h5 or .h5 file; see `kerascope.saving.save_weights`."""
        saving.file_functions.lookup("save_weights")(self, filepath, overwrite)

    def load_weights(
        self,
        filepath: Any,
        by_name: bool = False,
        skip_mismatch: bool = False,
        reshape: bool = False,
    ) -> None:
        """Read weights from a file of either kind; see `kerascope.saving.load_weights`."""
        load = saving.file_functions.lookup("load_weights")
        load(self, filepath, by_name, skip_mismatch, reshape)

    # --- for people -------------------------------------------------------------------------------

    def summary(
        self,
        line_length: int | None = None,
        positions: Any = None,
        print_fn: Callable[[str], Any] | None = None,
        expand_nested: bool = False,
        show_trainable: bool = False,
        layer_range: tuple[str, str] | None = None,
        *,
        calls: bool = False,
        fold: bool = False,
        flops: bool = False,
        memory: bool = False,
    ) -> None:
        """Print a table of the layers: output shapes, numbers of parameters, connections.

        Parameters
        ----------
        line_length : int, optional
            Width in columns; by default that of the terminal, 80 for `print_fn`.
        positions : list, optional
            Keras's column positions; accepted, the columns find their own.
        print_fn : callable, optional
            Receives each line instead of the terminal.
        expand_nested : bool
            Whether the layers inside nested models, wrappers and cells have rows of their own.
        show_trainable : bool
            Whether a column says which layers are trained: Y, N, or - for a layer without weights.
        layer_range : tuple of 2 str, optional
            First and last layer to show, both included: names, or patterns for their beginnings.
            The totals are those of the whole model.
        calls : bool
            Whether each call of a layer has a row, with its own shapes and its id: `shared@1`.
            Otherwise each layer has one.
        fold : bool
            Whether blocks of rows that are repeated one behind the other stand there once, under a
            line that says how often. Off by default: every layer has its row, as in Keras.
        flops : bool
            Whether to show the multiply-adds for one sample: see `engine.costs`.
        memory : bool
            Whether to show the bytes of weights, and of outputs for one sample (1 KB is 1024).

        Notes
        -----
        "Optimizer params" are the numbers that the optimizer keeps for each weight. They exist
        from the first training on, and are not part of the total.
        """
        print_summary(
            self,
            line_length,
            positions,
            print_fn,
            expand_nested,
            show_trainable,
            layer_range,
            calls=calls,
            fold=fold,
            flops=flops,
            memory=memory,
        )
