"""The ASGI application: pages over HTTP, play over WebSocket."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup(set_prefix=False)

from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402  (needs the apps to be loaded)
from channels.security.websocket import AllowedHostsOriginValidator, WebsocketDenier  # noqa: E402
from django.urls import re_path  # noqa: E402

from api.sockets import websocket_urlpatterns as seats  # noqa: E402
from config.memory import freeze_loaded_objects  # noqa: E402
from config.origins import SameOrigin  # noqa: E402
from config.pages import PagesHandler  # noqa: E402
from gathering import routing as gathering  # noqa: E402
from lobby import routing as lobby  # noqa: E402
from matches import routing as matches  # noqa: E402
from uptime.heartbeat import lifespan  # noqa: E402

rooms = (matches, lobby, gathering)
sockets = [*(each for room in rooms for each in room.websocket_urlpatterns), re_path("", WebsocketDenier.as_asgi())]
pages = SameOrigin(AllowedHostsOriginValidator(URLRouter(sockets)))
application = ProtocolTypeRouter(
    {
        "lifespan": lifespan,
        "http": PagesHandler(),
        "websocket": URLRouter([*seats, re_path("", pages)]),  # programs send a secret and have no origin
    }
)

freeze_loaded_objects()
