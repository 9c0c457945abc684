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

        `**kwargs` go to `json.dumps`: `indent=2`, ...
        """
        config = {"class_name": type(self).__name__, "config": self.get_config()}
        return json.dumps({**config, "keras_version": saving.KERAS_VERSION}, **kwargs)

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
    ) -> None:
        """Print a table of the layers: output shapes, numbers of parameters, connections.

        Parameters
        ----------
        line_length : int, optional
            Width in columns; by default that of the terminal.
        positions : list, optional
            Keras's column positions; accepted, the columns find their own.
        print_fn : callable, optional
            Receives each line instead of the terminal.
        """
        print_summary(self, line_length=line_length, print_fn=print_fn)
