from django.urls import path

from lobby import views

app_name = "lobby"
# No slash at the end: "lobby" in a page means this address from the participant's page.
urlpatterns = [path("<slug:token>/lobby", views.lobby, name="lobby")]
