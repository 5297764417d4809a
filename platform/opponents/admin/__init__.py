"""What researchers see of the models: where they are asked, and every call."""

from opponents.admin.calls import CallAdmin
from opponents.admin.endpoints import EndpointAdmin

__all__ = ["CallAdmin", "EndpointAdmin"]
