"""The admin by role: every page shows and does what the user's role allows."""

from rights.admin.lookups import ByKey, DeclaredLookups
from rights.admin.members import MembersPage
from rights.admin.pages import NO_STORE, PartAdmin, at
from rights.admin.records import RecordAdmin
from rights.admin.trails import trail

__all__ = ["NO_STORE", "ByKey", "DeclaredLookups", "MembersPage", "PartAdmin", "RecordAdmin", "at", "trail"]
