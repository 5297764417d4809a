"""Tables, tests and figures from a dataset's folder, without Django, a database, a network or other Parley packages."""

from typing import Any

__all__ = ["Data", "load"]


def __getattr__(name: str) -> Any:
    """Import `load` and `Data` on first use, because the server uses the toolbox without pandas."""
    if name in __all__:
        from analysis import notebook

        return getattr(notebook, name)
    raise AttributeError(name)
