"""A fit that fails changes nothing."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, TypeVar

Method = TypeVar("Method", bound=Callable[..., Any])


def all_or_nothing(method: Method) -> Method:
    """When ``method`` raises, also by Ctrl-C, give its object the attributes back that it had before.

    Else a refused second fit would leave the first one's network behind the second one's encoding, which predicts
    nonsense without a word.
    """

    @functools.wraps(method)
    def guarded(self: Any, *args: Any, **options: Any) -> Any:
        before = dict(self.__dict__)
        try:
            return method(self, *args, **options)
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise

    return guarded  # type: ignore[return-value]
