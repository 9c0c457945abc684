"""Live models of Keras 3: converted, or recorded while they run.

| what | where |
|---|---|
| `from_keras`, `to_keras` | `converting` |
| Keras itself, and where its layers keep what | `library` |
"""

from kerascope.foreign.keras_models.converting import converted, from_keras, to_keras
from kerascope.foreign.keras_models.library import LIBRARY

__all__ = ["LIBRARY", "converted", "from_keras", "to_keras"]
