"""The admin for people with parts: every page shows and does what the part of whoever looks allows."""

from rights.admin.members import MembersPage
from rights.admin.pages import PartAdmin
from rights.admin.records import RecordAdmin

__all__ = ["MembersPage", "PartAdmin", "RecordAdmin"]
