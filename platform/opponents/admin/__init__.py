"""Admin pages for models: the endpoints and every call."""

from opponents.admin.calls import CallAdmin
from opponents.admin.endpoints import EndpointAdmin

__all__ = ["CallAdmin", "EndpointAdmin"]
