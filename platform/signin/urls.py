from django.urls import path

from signin import views

app_name = "signin"
urlpatterns = [
    path("", views.setting_up, name="second_factor"),
    path("verify/", views.verifying, name="verify"),
]
