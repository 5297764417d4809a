from django.urls import path

from gathering.consumers import SessionConsumer

websocket_urlpatterns = [path("ws/session/<str:token>/", SessionConsumer.as_asgi())]
