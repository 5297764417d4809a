from django.urls import path

from participants import views

app_name = "participants"
urlpatterns = [
    path("<slug:token>/", views.page, name="page"),
    path("<slug:token>/leave/", views.leave, name="leave"),
    path("<slug:token>/problem/", views.problem, name="problem"),
]
