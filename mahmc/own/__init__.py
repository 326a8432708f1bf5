"""Earlier name of `mahmc.custom`, for one version more."""

import warnings

from mahmc.custom import *  # noqa: F403
from mahmc.custom import __all__ as __all__

warnings.warn("mahmc.own is mahmc.custom now.", DeprecationWarning, stacklevel=2)
