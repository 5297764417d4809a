from django.urls import path

from quality import views

app_name = "quality"
urlpatterns = [
    path("<slug:token>/counts", views.take, name="take"),
    path("<slug:token>/behaviour", views.take_behaviour, name="behaviour"),
]
