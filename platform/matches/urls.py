from django.urls import path

from matches import views

app_name = "matches"
urlpatterns = [path("<str:token>/match/", views.match, name="match")]
