"""Pilots in the admin: started from a study's page, with a page of their own."""

from piloting.admin.pilot import PilotAdmin

__all__ = ["PilotAdmin"]
