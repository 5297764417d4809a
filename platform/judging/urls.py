from django.urls import path

from judging import views

app_name = "judging"
urlpatterns = [
    path("<int:collection_id>/", views.page, name="page"),
    path("<int:collection_id>/now/", views.status_part, name="now"),
    path("<int:collection_id>/begin/", views.begin, name="begin"),
    path("<int:collection_id>/stop/", views.stop, name="stop"),
    path("<int:collection_id>/labels.csv", views.labels, name="labels"),
]
