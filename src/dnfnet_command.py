"""The ``dnfnet`` command until ``dnfnet`` is imported.

``dnfnet.cli`` brings torch and others, which takes seconds in which Ctrl-C would print a traceback. This is no part of
the package, so that nothing of the package can come before it.
"""

from __future__ import annotations

import os
import signal
import sys
from typing import Any, NoReturn


def main() -> int:
    """Import the command and run it; 130 after Ctrl-C."""
    # Idle threads of torch and XGBoost sleep instead of spinning: on a machine that others keep busy too, spinning
    # made the demo's training nine times slower. It has to be said before torch is loaded.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    try:
        usual = signal.getsignal(signal.SIGINT) is signal.default_int_handler  # not if it was started to ignore Ctrl-C
        if usual:
            signal.signal(signal.SIGINT, _leave)
        from dnfnet.cli import main as run

        if usual:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        return run()
    except KeyboardInterrupt:
        _leave()


def _leave(*_: Any) -> NoReturn:
    """End at once: an exception amid the import of an extension module may be swallowed or crash."""
    sys.stderr.write("dnfnet: interrupted: nothing was written\n")
    sys.stderr.flush()
    os._exit(130)
