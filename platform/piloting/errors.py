"""The errors of pilots; `str(error)` can be shown to the researcher."""


class CannotPilot(Exception):
    """The pilot was not started, stopped or deleted; nothing changed."""


class Stuck(Exception):
    """A simulated participant cannot continue; a real one might get stuck here too."""
