"""From a dataset's folder to tables, tests and figures. No Django, no database, no network, nothing of ours."""

from typing import Any

__all__ = ["Data", "load"]


def __getattr__(name: str) -> Any:
    """`load` and `Data`, made when they are asked for: the server uses the toolbox without pandas."""
    if name in __all__:
        from analysis import data

        return getattr(data, name)
    raise AttributeError(name)
