from django.urls import path

from matches import views

app_name = "matches"
# No slash at the end: "match" in a page means this address from the participant's page and from this page itself.
urlpatterns = [path("<slug:token>/match", views.match, name="match")]
