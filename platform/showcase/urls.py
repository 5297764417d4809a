from django.urls import path

from showcase import views

app_name = "showcase"
urlpatterns = [
    path("sign-in/", views.sign_in, name="sign_in"),
]
