from django.urls import path

from paydesk import views

app_name = "paydesk"
urlpatterns = [
    path("<int:pk>/", views.page, name="page"),
    path("<int:pk>/ask/", views.ask, name="ask"),
    path("<int:pk>/do/", views.do, name="do"),
    path("<int:pk>/try/", views.try_out, name="try"),
    path("<int:pk>/limit/", views.limit, name="limit"),
    path("<int:pk>/finance.csv", views.finance, name="finance"),
    path("<int:pk>/row/<uuid:uid>/", views.row, name="row"),
    path("<int:pk>/reject/<int:enrolment>/", views.reject, name="reject"),
    path("<int:pk>/row/<uuid:uid>/resolve/", views.resolve, name="resolve"),
]
