from django.urls import path

from reports import views

app_name = "reports"
_VIEWS = {
    "analyse": ("<uuid:uid>/analyse/", views.analyse),
    "stop": ("<uuid:uid>/stop/", views.stop),
    "read": ("<uuid:uid>/report.html", views.read),
    "download": ("<uuid:uid>/report.zip", views.download),
}
urlpatterns = [
    *(path(f"studies/<int:study_id>/{route}", view, name=name) for name, (route, view) in _VIEWS.items()),
    *(
        path(f"collections/<int:collection_id>/{route}", view, name=f"{name}_of_collection")
        for name, (route, view) in _VIEWS.items()
    ),
]
