from django.urls import path

from studies import views

app_name = "studies"
urlpatterns = [path("<slug:slug>/", views.join, name="join"), path("<slug:slug>", views.join)]
