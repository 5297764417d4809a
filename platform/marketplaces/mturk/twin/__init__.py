"""A stand-in for Mechanical Turk: the requesters' interface, and the pages on which workers find and do tasks."""

from marketplaces.mturk.twin.misbehaviours import Misbehaviour
from marketplaces.mturk.twin.server import Twin

__all__ = ["Misbehaviour", "Twin"]
