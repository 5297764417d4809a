"""The desk at Mechanical Turk: a study's tasks and what became of them, publishing, and deciding about assignments."""

from marketplaces.mturk.admin.assignments import AssignmentAdmin
from marketplaces.mturk.admin.hits import HitAdmin

__all__ = ["AssignmentAdmin", "HitAdmin"]
