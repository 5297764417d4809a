"""A stand-in for Mechanical Turk: the requesters' interface, and the pages on which workers find and do tasks."""

from marketplaces.mturk.standin.misbehaviours import Misbehaviour
from marketplaces.mturk.standin.server import StandIn

__all__ = ["Misbehaviour", "StandIn"]
