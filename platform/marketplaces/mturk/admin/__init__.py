"""The desk at Mechanical Turk: a study's tasks and their status, publishing, and deciding about assignments."""

from marketplaces.mturk.admin.assignments import AssignmentAdmin
from marketplaces.mturk.admin.hits import HitAdmin

__all__ = ["AssignmentAdmin", "HitAdmin"]
