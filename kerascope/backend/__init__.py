"""The backend, imported as `K`: a set of functions with Keras's names, on NumPy.

Files, in the order of their dependence: `shapes`, `scopes`, `graph` (Tensor, Apply, Op),
`traversal`, `ops/` (each Op with its function), `gradient` (the reverse sweep), `schedule` and
`function` (K.function), `eager`, `state`, `phase`.
"""

# ruff: noqa: F401, F403 (this file is a list of names: each module's __all__ says which)

from kerascope.backend.compiled import *
from kerascope.backend.function import *
from kerascope.backend.gradient import *
from kerascope.backend.graph import Apply, Constant, Op, Placeholder, Tensor, Variable
from kerascope.backend.old_names import *
from kerascope.backend.ops.broadcasting import *
from kerascope.backend.ops.comparison import *
from kerascope.backend.ops.control import *
from kerascope.backend.ops.crossentropy import *
from kerascope.backend.ops.elementwise import *
from kerascope.backend.ops.gathering import *
from kerascope.backend.ops.indexing import *
from kerascope.backend.ops.joining import *
from kerascope.backend.ops.linalg import *
from kerascope.backend.ops.nn import *
from kerascope.backend.ops.normalization import *
from kerascope.backend.ops.random import *
from kerascope.backend.ops.reduction import *
from kerascope.backend.ops.shaping import *
from kerascope.backend.ops.sizes import *
from kerascope.backend.phase import *
from kerascope.backend.scopes import name_scope
from kerascope.backend.state import *
from kerascope.not_yet import answer_missing_names

answer_missing_names(__name__)
