"""Every address of the site."""

from django.contrib import admin
from django.urls import include, path, re_path

from api.site import api, no_such_operation
from config.views import health, home

urlpatterns = [
    path("", home, name="home"),
    path("health/", health, name="health"),
    path("admin/exports/", include("exports.urls")),
    path("admin/", admin.site.urls),
    path("api/v1/", api.urls),
    re_path(r"^api/", no_such_operation),
    path("join/", include("studies.urls")),
    path("p/", include("participants.urls")),
    path("p/", include("matches.urls")),
]

handler404 = "config.views.not_found"
handler500 = "config.views.server_error"
