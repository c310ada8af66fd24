"""``python -m dnfnet.cli`` is ``dnfnet``."""

import sys

from dnfnet.cli import main

sys.exit(main())
