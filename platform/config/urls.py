"""All URLs of the site."""

from django.contrib import admin
from django.urls import include, path, re_path

from api.site import api, no_such_operation
from config.views import health, home, not_found
from marketplaces.prolific.hooks import receive_event
from monitoring.readiness import metrics, ready

admin.autodiscover()

urlpatterns = [
    path("", home, name="home"),
    path("health/", health, name="health"),
    path("health/ready", ready, name="ready"),
    path("metrics", metrics),
    path("admin/second-factor/", include("signin.urls")),
    path("admin/erase/", include("erasing.urls")),
    path("admin/exports/", include("exports.urls")),
    path("admin/reports/", include("reports.urls")),
    path("admin/judging/", include("judging.urls")),
    # The admin's own shortcut from any object to its page would reveal participants' personal links.
    path("admin/r/<path:anything>", not_found, {"exception": None}),
    path("admin/monitor/", include("monitoring.urls")),
    path("admin/sessions/", include("gathering.desk_urls")),
    path("admin/pay/", include("paydesk.urls")),
    path("admin/tour/", include("showcase.touring")),
    path("", include("walking.urls")),
    path("admin/", admin.site.urls),
    path("api/v1/", api.urls),
    re_path(r"^api/", no_such_operation),
    path("hooks/prolific/<uuid:uid>/", receive_event, name="prolific_hook"),
    path("demo/", include("showcase.urls")),
    path("join/", include("studies.urls")),
    path("media/", include("pages.urls")),
    path("s/", include("gathering.urls")),
    path("p/", include("participants.urls")),
    path("p/", include("matches.urls")),
    path("p/", include("lobby.urls")),
    path("p/", include("quality.urls")),
    path("p/", include("helping.urls")),
]

handler404 = "config.views.not_found"
handler500 = "config.views.server_error"
