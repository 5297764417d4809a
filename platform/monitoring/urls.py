from django.urls import path

from monitoring import views

app_name = "monitoring"
urlpatterns = [
    path("<int:pk>/", views.page, name="page"),
    path("<int:pk>/now/", views.status_part, name="now"),
    path("<int:pk>/pause/", views.pause, name="pause"),
    path("<int:pk>/resume/", views.resume, name="resume"),
    path("<int:pk>/write/", views.write, name="write"),
    path("<int:pk>/close-question/", views.close_question, name="close_question"),
    path("<int:pk>/end/", views.end_match, name="end_match"),
]
