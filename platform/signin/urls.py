from django.urls import path

from signin import views

app_name = "signin"
urlpatterns = [
    path("", views.setup_page, name="second_factor"),
    path("choose/<uidb64>/<token>/", views.ChoosePassword.as_view(), name="choose_password"),
    path("verify/", views.verify_page, name="verify"),
]
