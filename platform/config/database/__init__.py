"""Django's PostgreSQL, which asks less often whether a connection still works."""
