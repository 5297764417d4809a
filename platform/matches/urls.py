from django.urls import path

from matches import views

app_name = "matches"
# No trailing slashes, so that the relative URL "match" works on the participant's page and on this one.
urlpatterns = [
    path("<slug:token>/match", views.match, name="match"),
    path("<slug:token>/chat", views.talk, name="chat"),
]
