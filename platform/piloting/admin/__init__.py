"""Pilots in the admin: begun from a study's page, watched and read on their own."""

from piloting.admin.pilot import PilotAdmin

__all__ = ["PilotAdmin"]
