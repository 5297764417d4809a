from django.urls import re_path

from pages import views

app_name = "pages"
urlpatterns = [re_path(r"^(?P<sha256>[0-9a-f]{64})$", views.media, name="media")]
