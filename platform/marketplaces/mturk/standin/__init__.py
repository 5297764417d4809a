"""A stand-in for Mechanical Turk: the requester API, and the pages where workers find and do tasks."""

from marketplaces.mturk.standin.server import StandIn

__all__ = ["StandIn"]
