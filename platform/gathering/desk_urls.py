app_name = "sessions"
urlpatterns: list = []
