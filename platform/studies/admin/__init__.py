"""The admin pages for studies and everything that belongs to them.

Matches and participants are administered here, not in their own apps, because only this app knows which
study they belong to.
"""

from studies.admin.matches import MatchAdmin
from studies.admin.records import EnrolmentAdmin, PlacementAdmin, VersionAdmin
from studies.admin.study import StudyAdmin

__all__ = ["EnrolmentAdmin", "MatchAdmin", "PlacementAdmin", "StudyAdmin", "VersionAdmin"]
