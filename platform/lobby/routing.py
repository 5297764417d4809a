from django.urls import path

from lobby.consumers import LobbyConsumer

websocket_urlpatterns = [path("ws/lobby/<str:token>/", LobbyConsumer.as_asgi())]
