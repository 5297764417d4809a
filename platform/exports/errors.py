"""Errors in writing and reading datasets."""

from __future__ import annotations


class ExportError(Exception):
    """Base of this app's errors; `str(error)` may be shown to users."""


class UnknownSource(ExportError):
    """No study or collection has that name."""


class AlreadyImported(ExportError):
    """A collection already has that name."""


class UnknownFormat(ExportError):
    """Datasets cannot be written in that format."""


class NothingToExport(ExportError):
    """The study was never launched."""


class WrongValueType(ExportError):
    """A column holds a value of the wrong type: a bug in Parley; no dataset is written."""


class Stopped(ExportError):
    """The export was cancelled."""


class FolderInUse(ExportError):
    """The folder is not empty, or not a folder."""


class FlowMismatch(ExportError):
    """The participants' flow doesn't add up: a bug in Parley; no dataset is written."""


class Unreadable(ExportError):
    """The folder has no dataset, or it cannot be read."""
