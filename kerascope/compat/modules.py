"""Modules that older Keras versions call otherwise: `objectives` is `losses`.

Each old path is entered in `sys.modules`, so that `from kerascope.objectives import mse` and the
source documents' `from keras.engine.topology import Node` find today's module.
"""

from __future__ import annotations

import sys
from types import ModuleType

from kerascope import initializers, losses, models
from kerascope.engine import base_layer, input_layer, model, network, node
from kerascope.layers import merge

OLD_MODULES: dict[str, tuple[ModuleType, ...]] = {
    "kerascope.objectives": (losses,),
    "kerascope.initializations": (initializers,),
    "kerascope.engine.topology": (node, base_layer, input_layer, network, merge),
    "kerascope.engine.training": (model, models),
}


def enter_old_modules() -> None:
    """Make every old path importable."""
    for path, sources in OLD_MODULES.items():
        if path in sys.modules:
            continue
        module = sources[0] if len(sources) == 1 else _merged(path, sources)
        sys.modules[path] = module
        parent, _, name = path.rpartition(".")
        setattr(sys.modules[parent], name, module)


def _merged(path: str, sources: tuple[ModuleType, ...]) -> ModuleType:
    """Return a module with the public names of several; the first one that has a name wins."""
    merged = ModuleType(path, f"Keras's old name for {', '.join(s.__name__ for s in sources)}.")
    for source in reversed(sources):
        public = {name: item for name, item in vars(source).items() if not name.startswith("_")}
        vars(merged).update(public)
    vars(merged)["Container"] = network.Network
    return merged
