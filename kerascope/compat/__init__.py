"""Names of older Keras versions, in one place, and of modules that are not here yet."""

from kerascope.compat.missing_modules import answer_missing_modules
from kerascope.compat.modules import OLD_MODULES, enter_old_modules

__all__ = ["OLD_MODULES", "answer_missing_modules", "enter_old_modules"]
