"""Every address of the site."""

from django.contrib import admin
from django.urls import include, path

from config.views import health, home

urlpatterns = [
    path("", home, name="home"),
    path("health/", health, name="health"),
    path("admin/exports/", include("exports.urls")),
    path("admin/monitor/", include("monitoring.urls")),
    path("admin/", admin.site.urls),
    path("join/", include("studies.urls")),
    path("p/", include("participants.urls")),
    path("p/", include("matches.urls")),
]

handler404 = "config.views.not_found"
handler500 = "config.views.server_error"
