from django.urls import path

from walking import views

app_name = "walking"
urlpatterns = [
    path("admin/walk/<int:pk>/", views.start, name="start"),
    path("admin/walk/<int:pk>/<int:cell>/", views.start, name="start"),
    path("admin/walk/<int:pk>/<int:cell>/<str:role>/", views.start, name="start"),
    path("admin/walk-link/<int:pk>/", views.change_link, name="change_link"),
    path("walk/<str:token>/", views.shared, name="shared"),
    path("walk/through/<str:key>/", views.walk, name="walk"),
    path("walk/through/<str:key>/stages/", views.stages, name="stages"),
    path("walk/through/<str:key>/jump/", views.jump, name="jump"),
    path("walk/through/<str:key>/leave/", views.leave, name="leave"),
]
