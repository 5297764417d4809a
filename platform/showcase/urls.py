from django.urls import path

from showcase import views

app_name = "showcase"
urlpatterns = [
    path("sign-in/", views.sign_in, name="sign_in"),
    path("friend/<slug:game>/", views.friend, name="friend"),
    path("watch/<slug:game>/", views.watch, name="watch"),
    path("results/<slug:game>/", views.game_results, name="results"),
    path("match/<uuid:uid>/", views.match, name="match"),
    path("match/<uuid:uid>/step/<int:number>/", views.step, name="step"),
    path("match/<uuid:uid>/screen/<int:number>/<str:side>/<str:role>/", views.screen, name="screen"),
]
