"""Why a dataset cannot be written or read, as one tree."""

from __future__ import annotations


class ExportError(Exception):
    """Base of this app's errors; `str(error)` is fit to show."""


class UnknownSource(ExportError):
    """There is no study or collection of that name."""


class AlreadyImported(ExportError):
    """There are collections of that name."""


class UnknownFormat(ExportError):
    """A format that datasets are not written in."""


class NothingToExport(ExportError):
    """The study was never launched."""


class OddValue(ExportError):
    """A column holds a value of another type: a defect of ours, and no dataset is written."""


class Stopped(ExportError):
    """Nobody wants the dataset any more."""


class FolderInUse(ExportError):
    """The folder holds something already, or is no folder."""


class FlowMismatch(ExportError):
    """The counts of the participants' flow do not add up: a defect of ours, and no dataset is written."""


class Unreadable(ExportError):
    """There is no dataset in that folder, or it cannot be read."""
