from django.urls import path

from helping import views

app_name = "helping"
urlpatterns = [
    path("<slug:token>/questions/", views.page, name="page"),
    path("<slug:token>/questions/list", views.listed, name="list"),
]
