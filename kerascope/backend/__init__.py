"""The backend, imported as `K`: functions with the names of the Keras backend API, on NumPy.

Files, in the order of their imports: `shapes`, `scopes`, `atomic`, `graph` (Tensor, Apply, Op),
`ops/` (each Op with its function), `gradient` (the reverse sweep), `schedule` and `function`
(K.function), `program/` (the source that a function compiles), `eager`, `state`.
"""

# ruff: noqa: F401, F403 (each module's __all__ lists its public names)

from kerascope.backend.eager import *
from kerascope.backend.function import *
from kerascope.backend.gradient import *
from kerascope.backend.graph import Apply, Constant, Op, Placeholder, Tensor
from kerascope.backend.ops.broadcasting import *
from kerascope.backend.ops.comparison import *
from kerascope.backend.ops.control import *
from kerascope.backend.ops.convolution import *
from kerascope.backend.ops.ctc import *
from kerascope.backend.ops.elementwise import *
from kerascope.backend.ops.image import *
from kerascope.backend.ops.indexing import *
from kerascope.backend.ops.joining import *
from kerascope.backend.ops.linalg import *
from kerascope.backend.ops.loops import *
from kerascope.backend.ops.nn import *
from kerascope.backend.ops.pooling import *
from kerascope.backend.ops.random import *
from kerascope.backend.ops.reduction import *
from kerascope.backend.ops.shaping import *
from kerascope.backend.ops.sparse import *
from kerascope.backend.ops.windows import normalize_data_format
from kerascope.backend.scopes import users_name_scope as name_scope
from kerascope.backend.state import *
from kerascope.backend.state import enter_old_names as _enter_old_names
from kerascope.backend.variables import Variable
from kerascope.missing_names import answer_missing_names

_enter_old_names(globals())
_LATER = """asymmetric_spatial_2d_padding asymmetric_temporal_padding atrous_conv2d is_float_dtype
    is_int_dtype legacy_weight_ordering result_type set_legacy_weight_ordering standardize_dtype"""

answer_missing_names(__name__, later=dict.fromkeys(_LATER.split(), "kerascope.backend.keras_names"))
