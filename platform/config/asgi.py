"""What the web server runs: pages over HTTP, play over WebSocket."""

import os

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
django.setup(set_prefix=False)

from channels.routing import ProtocolTypeRouter, URLRouter  # noqa: E402  (needs the apps to be loaded)
from channels.security.websocket import AllowedHostsOriginValidator  # noqa: E402

from config.memory import keep_what_is_loaded  # noqa: E402
from config.pages import PagesHandler  # noqa: E402
from matches.routing import websocket_urlpatterns  # noqa: E402

application = ProtocolTypeRouter(
    {
        "http": PagesHandler(),
        "websocket": AllowedHostsOriginValidator(URLRouter(websocket_urlpatterns)),
    }
)

keep_what_is_loaded()
