from django.urls import path

from gathering import views

app_name = "gathering"
urlpatterns = [
    path("", views.entrance, name="entrance"),
    path("wait/<str:token>/", views.wait, name="wait"),
    path("<slug:code>/", views.session, name="session"),
    path("<slug:code>", views.session),
]
