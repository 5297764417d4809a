from django.urls import path

from exports import views

app_name = "exports"
urlpatterns = [
    path("<slug:slug>/dataset.zip", views.dataset, name="dataset"),
    path("collections/<slug:slug>/dataset.zip", views.dataset_of_collection, name="dataset_of_collection"),
]
