"""`python -m kerascope`: the same as the command `kerascope`."""

from __future__ import annotations

import sys

from kerascope.cli import main

sys.exit(main())
