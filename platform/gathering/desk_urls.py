from django.urls import path

from gathering import desk

app_name = "sessions"
urlpatterns = [
    path("<int:pk>/", desk.page, name="page"),
    path("<int:pk>/<slug:code>/", desk.session, name="session"),
    path("<int:pk>/<slug:code>/now/", desk.now, name="now"),
    path("<int:pk>/<slug:code>/change/", desk.change, name="change"),
    path("<int:pk>/<slug:code>/start/", desk.start, name="start"),
    path("<int:pk>/<slug:code>/call-off/", desk.call_off, name="call_off"),
    path("<int:pk>/<slug:code>/free/", desk.free, name="free"),
    path("<int:pk>/<slug:code>/projector/", desk.projector, name="projector"),
    path("<int:pk>/<slug:code>/results/", desk.results, name="results"),
    path("<int:pk>/<slug:code>/receipts/", desk.receipt_list, name="receipts"),
]
