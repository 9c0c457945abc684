"""Names of older Keras versions, in one place."""

from kerascope.compat.modules import OLD_MODULES, enter_old_modules

__all__ = ["OLD_MODULES", "enter_old_modules"]
