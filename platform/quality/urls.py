from django.urls import path

from quality import views

app_name = "quality"
urlpatterns = [
    path("<slug:token>/counts", views.receive_counts, name="counts"),
    path("<slug:token>/behaviour", views.receive_behaviour, name="behaviour"),
]
