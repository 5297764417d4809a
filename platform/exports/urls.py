from django.urls import path

from exports import views

app_name = "exports"
_VIEWS = {
    "page": ("", views.page),
    "now": ("now/", views.status_part),
    "write": ("write/", views.write),
    "publish": ("publish/", views.publish),
    "stop": ("<uuid:uid>/stop/", views.stop),
    "download": ("<uuid:uid>/dataset.zip", views.download),
}
urlpatterns = [
    path("studies/<int:study_id>/preregistration/", views.preregistered, name="preregistration"),
    *(path(f"studies/<int:study_id>/{route}", view, name=name) for name, (route, view) in _VIEWS.items()),
    *(
        path(f"collections/<int:collection_id>/{route}", view, name=f"{name}_of_collection")
        for name, (route, view) in _VIEWS.items()
    ),
]
