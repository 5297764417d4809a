"""The Mechanical Turk desk: a study's tasks and their status, publishing, and decisions about assignments."""

from marketplaces.mturk.admin.assignments import AssignmentAdmin
from marketplaces.mturk.admin.hits import HitAdmin

__all__ = ["AssignmentAdmin", "HitAdmin"]
