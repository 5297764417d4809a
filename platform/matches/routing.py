from django.urls import path

from matches.consumers import PlayConsumer

websocket_urlpatterns = [path("ws/play/<str:token>/", PlayConsumer.as_asgi())]
