"""Keras 1's methods of a network: visited nodes, and weights in open groups of HDF5 files."""

from __future__ import annotations

from typing import Any

from kerascope.engine.graph_map import map_graph


class NetworkOfKeras1:
    """The methods and attributes of a `Network` that only Keras 1 has."""

    inputs: Any
    outputs: Any
    network_nodes: Any

    @property
    def seen_nodes(self) -> list[str]:
        """The strings "id-depth" by which Keras 1's algorithm stores its visits of nodes."""
        return map_graph(self.inputs, self.outputs, flavour="1").seen_nodes

    @property
    def container_nodes(self) -> list[str]:
        """The names of all Nodes, under Keras 1's name of `network_nodes`."""
        return self.network_nodes

    def save_weights_to_hdf5_group(self, f: Any) -> None:
        """Write the weights into an open HDF5 group."""
        self.save_weights(f)  # type: ignore[attr-defined]

    def load_weights_from_hdf5_group(self, f: Any) -> None:
        """Read weights from an open HDF5 group, in the order of the layers."""
        self.load_weights(f)  # type: ignore[attr-defined]

    def load_weights_from_hdf5_group_by_name(self, f: Any) -> None:
        """Read weights from an open HDF5 group by the names of layers."""
        self.load_weights(f, by_name=True)  # type: ignore[attr-defined]
