from django.urls import path

from participants import views

app_name = "participants"
urlpatterns = [
    path("<str:token>/", views.page, name="page"),
    path("<str:token>/leave/", views.leave, name="leave"),
    path("<str:token>/problem/", views.problem, name="problem"),
]
