from django.urls import path

from lobby import views

app_name = "lobby"
# No slash at the end, so that the relative URL "lobby" works from the participant's page.
urlpatterns = [path("<slug:token>/lobby", views.lobby, name="lobby")]
