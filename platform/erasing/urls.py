from django.urls import path

from erasing import views

app_name = "erasing"
urlpatterns = [path("<int:enrolment>/", views.erase, name="erase")]
