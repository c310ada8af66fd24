"""What is optional, decided in one place: import it when it is used, or say how to install it."""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

from dnfnet.exceptions import MissingDependencyError


def require(module: str, extra: str) -> ModuleType:
    """Import an optional module, or say which extra of dnfnet brings it.

    Parameters
    ----------
    module : str
        Dotted name as in an import statement, such as ``"matplotlib.pyplot"``.
    extra : str
        The extra of dnfnet that installs it, such as ``"paper"``.
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        missing = (error.name or module).partition(".")[0]
        if missing != module.partition(".")[0]:
            raise
        raise MissingDependencyError(
            f"This needs the package '{missing}', which is not installed: run  pip install 'dnfnet[{extra}]'"
        ) from error
