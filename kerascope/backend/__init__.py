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
from kerascope.backend.old_names import enter_old_names as _enter_old_names
from kerascope.backend.ops.batch_products import *
from kerascope.backend.ops.broadcasting import *
from kerascope.backend.ops.comparison import *
from kerascope.backend.ops.control import *
from kerascope.backend.ops.convolution import *
from kerascope.backend.ops.convolution_depthwise import *
from kerascope.backend.ops.convolution_transposed import *
from kerascope.backend.ops.crossentropy import *
from kerascope.backend.ops.ctc import *
from kerascope.backend.ops.ctc_decode import *
from kerascope.backend.ops.einsum import *
from kerascope.backend.ops.elementwise import *
from kerascope.backend.ops.error_function import *
from kerascope.backend.ops.filling import *
from kerascope.backend.ops.folding import *
from kerascope.backend.ops.gathering import *
from kerascope.backend.ops.indexing import *
from kerascope.backend.ops.joining import *
from kerascope.backend.ops.linalg import *
from kerascope.backend.ops.local import *
from kerascope.backend.ops.looping import *
from kerascope.backend.ops.nn import *
from kerascope.backend.ops.normalization import *
from kerascope.backend.ops.padding import *
from kerascope.backend.ops.pooling import *
from kerascope.backend.ops.printing import *
from kerascope.backend.ops.random import *
from kerascope.backend.ops.reduction import *
from kerascope.backend.ops.resizing import *
from kerascope.backend.ops.shaping import *
from kerascope.backend.ops.sizes import *
from kerascope.backend.ops.sparse import *
from kerascope.backend.phase import *
from kerascope.backend.scopes import users_name_scope as name_scope
from kerascope.backend.state import *
from kerascope.not_yet import answer_missing_names

_enter_old_names(globals())
answer_missing_names(__name__)
