"""The settings. Every default works on one machine; production sets environment variables.

SECRET_KEY, DEBUG, DATABASE_URL, REDIS_URL, ALLOWED_HOSTS, CSRF_TRUSTED_ORIGINS, SITE_URL and
PARLEY_DATA are read from the environment; deploy/parley.env.example explains each.
"""

from __future__ import annotations

import secrets
from datetime import timedelta
from pathlib import Path
from urllib.parse import urlsplit

import environ
from csp.constants import NONE, SELF
from django.core.exceptions import ImproperlyConfigured
from django.utils.translation import gettext_lazy as _

from config.errors import report_to
from config.unfold import UNFOLD as UNFOLD
from games import registry
from marketplaces import kinds

BASE_DIR = Path(__file__).resolve().parent.parent.parent
env = environ.Env()
DATA_DIR = Path(env.str("PARLEY_DATA", default=str(BASE_DIR / "var")))


def _stored_secret_key() -> str:
    """Return a key created once and stored beside the data, for machines without a configured one."""
    stored_key = DATA_DIR / "secret_key"
    if not stored_key.exists():
        try:
            DATA_DIR.mkdir(mode=0o700, parents=True, exist_ok=True)
            stored_key.touch(mode=0o600)
            stored_key.write_text(secrets.token_urlsafe(50))
        except OSError:
            return secrets.token_urlsafe(50)
    return stored_key.read_text()


def _database_url() -> str:
    """Return DATABASE_URL, or the address of a file in the data folder.

    Raises:
        ImproperlyConfigured: characters of the password look like the end of the host; the message does not quote it.
    """
    url = env.str("DATABASE_URL", default=f"sqlite:///{DATA_DIR / 'parley.sqlite3'}")
    if url.startswith("sqlite"):
        return url
    try:
        parts = urlsplit(url)
        is_readable = (parts.port or 1) > 0 and "@" not in parts.path + parts.query + parts.fragment
    except ValueError:
        is_readable = False
    if not is_readable:
        raise ImproperlyConfigured(
            "DATABASE_URL is ambiguous: write @ : / ? # % in its password as %40 %3A %2F %3F %23 %25."
        )
    return url


DEBUG = env.bool("DEBUG", default=False)
SECRET_KEY_FALLBACKS = env.list("SECRET_KEY_FALLBACKS", default=[])
"""Earlier keys: data signed or sealed with them stays readable. New data never uses them."""
ALLOWED_HOSTS = env.list("ALLOWED_HOSTS", default=["127.0.0.1", "localhost", "[::1]"])
CSRF_TRUSTED_ORIGINS = env.list("CSRF_TRUSTED_ORIGINS", default=[])
SITE_URL = env.str("SITE_URL", default="http://127.0.0.1:8000")
SITE_OWNER = env.str("SITE_OWNER", default="")
"""Who runs this server, as its home page names them."""
SITE_CONTACT = env.str("SITE_CONTACT", default="")
"""How to reach them: an e-mail address, or any text."""
PRIVACY_URL = env.str("PRIVACY_URL", default="")
"""The address of the owner's privacy notice."""
if urlsplit(PRIVACY_URL).scheme not in ("", "http", "https"):
    raise ImproperlyConfigured("PRIVACY_URL must begin with https:// or http://.")
BEHIND_TLS = SITE_URL.startswith("https://")
if BEHIND_TLS and not env.str("SECRET_KEY", default=""):
    raise ImproperlyConfigured("SECRET_KEY is empty: production must set it (deploy/parley.env.example).")
SECRET_KEY = env.str("SECRET_KEY", default="") or _stored_secret_key()
DEMO = env.bool("PARLEY_DEMO", default=False)
"""Whether this is the demo: its home page is the showcase, and this computer signs in to the admin with one click."""
DEMO_SHARED_URL = env.str("PARLEY_DEMO_SHARED_URL", default="").rstrip("/") if DEMO else ""
"""The demo's address for other devices in the same network; empty: the demo serves this computer only."""
if DEMO and BEHIND_TLS:
    raise ImproperlyConfigured("PARLEY_DEMO is for your own computer: a server with TLS must not set it.")
if DEMO_SHARED_URL:
    ALLOWED_HOSTS = [*ALLOWED_HOSTS, urlsplit(DEMO_SHARED_URL).hostname or ""]
LOCAL_HOSTS = env.list("LOCAL_HOSTS", default=[] if BEHIND_TLS else ["127.0.0.1", "localhost", "::1"])
"""Hosts on private networks that Parley may call: oTree servers, marketplaces' stand-in servers, and servers of models
whose public name leads to a private network."""

INSTALLED_APPS = [
    "unfold",
    "django.contrib.admin.apps.SimpleAdminConfig",  # `config.urls` loads the admin pages, which only web servers need
    "django.contrib.auth",
    "django.contrib.contenttypes",
    "django.contrib.sessions",
    "django.contrib.messages",
    "django.contrib.staticfiles",
    "channels",
    "csp",
    "axes",
    "django_otp",
    "django_otp.plugins.otp_totp",
    "django_otp.plugins.otp_static",
    "config",
    "uptime",
    "audit",
    "rights",
    "participants",
    "programs",
    "recruiters",
    "quality",
    "opponents",
    "matches",
    "lobby",
    "checks",
    "surveys",
    "pages",
    "payouts",
    "studies",
    "helping",
    "panels",
    "marketplaces",
    *(f"marketplaces.{key}" for key in kinds.keys()),
    "piloting",
    "walking",
    "gathering",
    "collecting",
    "monitoring",
    "exports",
    "reports",
    "judging",
    "signin",
    "erasing",
    "paydesk",
    "api",
    "notifying",
    "showcase",
    *(f"games.{key}" for key in registry.known()),
]

APPS_WITHOUT_MODELS = ["config.apps.UnconnectedConfig", *(f"games.{key}" for key in registry.known())]
"""The apps of processes that use no database: `config.alone`, and those that help to verify a dataset."""
MIDDLEWARE = [
    "django.middleware.security.SecurityMiddleware",
    "config.middleware.refuse_nulls",
    "django.middleware.gzip.GZipMiddleware",  # also files that nobody has compressed yet, as on one's own computer
    "whitenoise.middleware.WhiteNoiseMiddleware",
    "django.middleware.common.CommonMiddleware",
    "django.middleware.csrf.CsrfViewMiddleware",
    "django.middleware.clickjacking.XFrameOptionsMiddleware",
    "config.middleware.ContentPolicy",
    "marketplaces.framing.RehearsalFrames",
    "config.middleware.skip_accounts",  # all that follows is about accounts, which participants do not have
    "django.contrib.sessions.middleware.SessionMiddleware",
    "django.contrib.auth.middleware.AuthenticationMiddleware",
    "showcase.local.ResearchStaysLocal",
    "django_otp.middleware.OTPMiddleware",
    "signin.middleware.SecondFactorMiddleware",
    "django.contrib.messages.middleware.MessageMiddleware",
    "axes.middleware.AxesMiddleware",
    "config.middleware.after_accounts",
]

ROOT_URLCONF = "config.urls"
ADMIN_PATH = "/admin/"
PARTICIPANTS_PATHS = ("/p/", "/join/")
"""Where the addresses of these pages begin, as `config.urls` has them."""
ASGI_APPLICATION = "config.asgi.application"

TEMPLATES = [
    {
        "BACKEND": "django.template.backends.django.DjangoTemplates",
        "DIRS": [BASE_DIR / "templates"],
        "APP_DIRS": True,
        "OPTIONS": {
            # Where no app is loaded, Django would not find it (`config.alone`).
            "libraries": {"play": "matches.templatetags.play"},
            "context_processors": [
                "django.template.context_processors.request",
                "django.contrib.auth.context_processors.auth",
                "django.contrib.messages.context_processors.messages",
            ],
        },
    },
]

# ---- data ------------------------------------------------------------------------------------------

DATABASES = {"default": env.db_url_config(_database_url())}
DATABASES["default"]["CONN_MAX_AGE"] = None
# A connection that the server has dropped, for example in a restart, is replaced before use.
DATABASES["default"]["CONN_HEALTH_CHECKS"] = True
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    # Under load, deferred transactions that turn into writes fail immediately; immediate ones wait.
    # Overwritten data are erased from the file as well.
    DATABASES["default"]["OPTIONS"] = {
        "transaction_mode": "IMMEDIATE",
        "timeout": 20,
        "init_command": "PRAGMA journal_mode=WAL; PRAGMA synchronous=NORMAL; PRAGMA busy_timeout=20000; "
        "PRAGMA secure_delete=ON;",
    }
else:
    DATABASES["default"]["ENGINE"] = "config.database"
    DATABASES["default"]["OPTIONS"] = {
        # A machine that does not answer is noticed within seconds (connecting) and milliseconds (sending).
        "connect_timeout": 2,
        "tcp_user_timeout": 5000,
        **DATABASES["default"].get("OPTIONS", {}),
        # Frequent statements are prepared once per connection.
        "server_side_binding": True,
        "prepare_threshold": 3,
    }
DEFAULT_AUTO_FIELD = "django.db.models.BigAutoField"

REDIS_URL = env.str("REDIS_URL", default=f"unix://{DATA_DIR / 'redis.sock'}")
REDIS_SECONDS = 1.0
"""Seconds that a call to Redis may take; people's pages do without its answer then."""
REDIS_OPTIONS = {
    "socket_timeout": REDIS_SECONDS,
    "socket_connect_timeout": REDIS_SECONDS,
}
CHANNEL_LAYERS = {
    "default": {
        "BACKEND": "config.deadlines.ChannelLayer",
        "CONFIG": {"hosts": [{"address": REDIS_URL}], "prefix": "parley"},
    },
}

CACHES = {
    "default": {
        "BACKEND": "config.deadlines.shared_cache",
        "LOCATION": REDIS_URL,
        "KEY_PREFIX": "parley",
        "OPTIONS": REDIS_OPTIONS,
    },
}

CELERY_BROKER_URL = REDIS_URL.replace("unix://", "redis+socket://", 1)
CELERY_TASK_IGNORE_RESULT = True
CELERY_TASK_DEFAULT_QUEUE = "turns"
# Collections' workers do long work that must not delay the turns of people's matches.
_QUEUES = {
    "collections": ("collecting.drive", "piloting.drive", "reports.make", "judging.judge", "exports.write"),
    "payouts": ("payouts.pay",),
    "default": (
        *("collecting.sweep", "lobby.sweep", "helping.sweep", "piloting.sweep", "walking.sweep", "gathering.sweep"),
        *("studies.open_and_close", "monitoring.tally", "notifying.watch", "api.deliver", "marketplaces.sync"),
    ),
}
CELERY_TASK_ROUTES = {task: {"queue": queue} for queue, tasks in _QUEUES.items() for task in tasks}
COLLECTION_DRIVERS = env.int("COLLECTION_DRIVERS", default=1)
"""Drivers that play one collection concurrently: one per worker process for collections."""
CELERY_WORKER_PREFETCH_MULTIPLIER = 1
CELERY_WORKER_HIJACK_ROOT_LOGGER = False
CELERY_WORKER_SEND_TASK_EVENTS = False
CELERY_BROKER_CONNECTION_RETRY_ON_STARTUP = True
CELERY_BROKER_CONNECTION_MAX_RETRIES = None
# The sweep finds lost tasks in the database: no second bookkeeping in Redis. The timeout is longer than the second
# for which a worker's blocking read waits.
CELERY_BROKER_TRANSPORT_OPTIONS = {
    "socket_keepalive": True,
    "socket_timeout": 2 * REDIS_SECONDS,
    "socket_connect_timeout": REDIS_SECONDS,
    "health_check_interval": 10,
    "ack_emulation": False,
}
CELERY_TASK_PUBLISH_RETRY_POLICY = {"max_retries": 1, "interval_start": 0.1, "interval_max": 0.2}
_EVERY = {
    "matches.sweep": (2, 4),
    "lobby.sweep": (2, 4),
    "collecting.sweep": (2, 4),
    "helping.sweep": (2, 4),
    "gathering.sweep": (2, 4),
    "piloting.sweep": (5, 10),
    "studies.open_and_close": (15, 15),
    "walking.sweep": (30, 60),
    "monitoring.tally": (10, 20),
    "notifying.watch": (20, 20),
    "api.deliver": (2, 2),
    "marketplaces.sync": (15, 15),
    "payouts.pay": (5, 5),
    "participants.sweep": (15, 30),
}
"""Seconds between two runs of a task, and after which one that no worker has begun is dropped."""
CELERY_BEAT_SCHEDULE = {
    task: {"task": task, "schedule": seconds, "options": {"expires": expires}}
    for task, (seconds, expires) in _EVERY.items()
}
"""Of what beat does; `config.celery` adds what has an hour of the day."""

SPEND_CAP_PER_DAY = env.str("SPEND_CAP_PER_DAY", default="100")
"""US dollars that models' calls may cost per day, over all studies; no limit if empty."""

PAY_LEASE_SECONDS = env.float("PAY_LEASE_SECONDS", default=300)
"""Seconds that a worker's lease on a payment lasts; no call of a recruiter's API may take half of it."""
PAY_SETTLING_SECONDS = env.float("PAY_SETTLING_SECONDS", default=60)
"""Seconds before the recruiter is queried about a payment whose request got no answer."""
PAY_WAIT_SECONDS = env.float("PAY_WAIT_SECONDS", default=30)
"""Seconds before a failed payment is retried; doubled each time, up to half an hour."""

API_CALLS_PER_MINUTE = env.int("API_CALLS_PER_MINUTE", default=240)
"""API calls per token and minute."""

PAGE_THREADS = env.int("PAGE_THREADS", default=4)
"""Page requests that one web process handles at once, each with a database connection."""
PLAY_THREADS = env.int("PLAY_THREADS", default=4)
"""Moves and socket frames that one web process handles at once, each with a database connection."""

# ---- people and pages --------------------------------------------------------------------------------

AUTHENTICATION_BACKENDS = [
    "signin.throttling.GuessLimiter",
    "axes.backends.AxesStandaloneBackend",
    "django.contrib.auth.backends.ModelBackend",
]
AUTH_PASSWORD_VALIDATORS = [
    {"NAME": "django.contrib.auth.password_validation.UserAttributeSimilarityValidator"},
    {"NAME": "django.contrib.auth.password_validation.MinimumLengthValidator", "OPTIONS": {"min_length": 12}},
    {"NAME": "django.contrib.auth.password_validation.CommonPasswordValidator"},
]
REQUIRE_SECOND_FACTOR = env.bool("REQUIRE_SECOND_FACTOR", default=BEHIND_TLS)
"""Whether everyone in the admin must enter a code from an authenticator app in addition to the password."""
OTP_TOTP_ISSUER = "Parley"

JOINS_PER_HOUR = env.int("JOINS_PER_HOUR", default=1000)
"""Participants per hour who may start a study from one network address through links that are not verified: more
than any lecture hall has seats, so that only programs meet it."""
TRUSTED_PROXIES = env.int("TRUSTED_PROXIES", default=0)
"""Proxies in front that add the visitor's address to X-Forwarded-For, if the web server does not read it."""
AXES_FAILURE_LIMIT = 5
AXES_COOLOFF_TIME = timedelta(minutes=15)
SIGN_IN_FAILURES = 20
"""Failed sign-ins within AXES_COOLOFF_TIME after which a network address is blocked. Each time a username has as many,
from any addresses, signing in with it takes a second longer."""
AXES_RESET_COOL_OFF_ON_FAILURE_DURING_LOCKOUT = False
AXES_LOCKOUT_PARAMETERS = [["username", "ip_address"]]
AXES_RESET_ON_SUCCESS = True
AXES_CLIENT_IP_CALLABLE = "recruiters.addresses.address_of"
AXES_LOCKOUT_CALLABLE = "signin.throttling.lockout_page"
AXES_DISABLE_ACCESS_LOG = True
AXES_ENABLE_ADMIN = False
AXES_VERBOSE = False

LANGUAGE_CODE = "en"
LANGUAGES = [("en", _("English")), ("de", _("German")), ("es", _("Spanish"))]
"""Of participants' pages and models' prompts; the admin is in English."""
TIME_ZONE = "UTC"
USE_TZ = True
LOGIN_URL = "admin:login"
LOGIN_REDIRECT_URL = "admin:index"

STATIC_URL = "static/"
STATIC_ROOT = DATA_DIR / "static"
STATICFILES_DIRS = [BASE_DIR / "static"]
WHITENOISE_USE_FINDERS = not BEHIND_TLS
WHITENOISE_AUTOREFRESH = DEBUG
STORAGES = {
    "default": {"BACKEND": "django.core.files.storage.FileSystemStorage"},
    # In production `collectstatic` names files by their content, so browsers cache them for good, and compresses them.
    "staticfiles": {
        "BACKEND": "whitenoise.storage.CompressedManifestStaticFilesStorage"
        if BEHIND_TLS
        else "django.contrib.staticfiles.storage.StaticFilesStorage"
    },
    # Datasets waiting for download; the web servers and collections' workers share the folder.
    "datasets": {
        "BACKEND": "django.core.files.storage.FileSystemStorage",
        "OPTIONS": {
            "location": DATA_DIR / "datasets",
            "file_permissions_mode": 0o600,
            "directory_permissions_mode": 0o700,
        },
    },
}
DATA_UPLOAD_MAX_MEMORY_SIZE = 256 * 1024

CONTENT_SECURITY_POLICY = {
    # The admin theme needs inline styles and evaluates Alpine expressions; participants' pages get the strict policy;
    # `config.middleware` has the admin's.
    "EXCLUDE_URL_PREFIXES": [ADMIN_PATH],
    "DIRECTIVES": {
        "default-src": [NONE],
        "script-src": [SELF],
        "style-src": [SELF],
        "img-src": [SELF, "data:"],
        "media-src": [SELF],
        "font-src": [SELF],
        "connect-src": [SELF],
        "form-action": [SELF],
        "base-uri": [NONE],
        # Some marketplaces show a study inside their own page.
        "frame-ancestors": [SELF, *(site for kind in kinds.every() for site in kind.frames)],
    },
}
SECURE_REFERRER_POLICY = "same-origin"
SECURE_CONTENT_TYPE_NOSNIFF = True
SECURE_PROXY_SSL_HEADER = ("HTTP_X_FORWARDED_PROTO", "https") if BEHIND_TLS else None
SECURE_SSL_REDIRECT = BEHIND_TLS
# Plain requests are redirected to the site's own address, whatever host they name.
SECURE_SSL_HOST = urlsplit(SITE_URL).netloc
SECURE_HSTS_SECONDS = 31536000 if BEHIND_TLS else 0
# Whether all other servers of the domain use TLS is known only to its owner.
SECURE_HSTS_INCLUDE_SUBDOMAINS = env.bool("HSTS_SUBDOMAINS", default=False)
SECURE_HSTS_PRELOAD = env.bool("HSTS_PRELOAD", default=False)
SILENCED_SYSTEM_CHECKS = ["security.W005", "security.W021"]  # the two HSTS settings above
SESSION_COOKIE_AGE = 12 * 60 * 60
SESSION_COOKIE_HTTPONLY = True
SESSION_COOKIE_SAMESITE = "Lax"
SESSION_COOKIE_SECURE = CSRF_COOKIE_SECURE = BEHIND_TLS

LOGGING = {
    "version": 1,
    "disable_existing_loggers": False,
    "formatters": {
        "line": {
            "()": "config.logs.LineFormatter",
            "format": "%(asctime)s %(levelname)s %(name)s: %(message)s",
        },
        "json": {
            "()": "config.logs.JsonFormatter",
            "format": "%(asctime)s %(levelname)s %(name)s %(message)s",
        },
    },
    "filters": {
        "hide tokens": {"()": "config.logs.HideTokens"},
        "one line": {"()": "config.logs.OneLine"},
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": env.str("LOG_FORMAT", default="line"),
            "filters": ["one line", "hide tokens"],
        }
    },
    "root": {"handlers": ["stderr"], "level": env.str("LOG_LEVEL", default="WARNING")},
    "loggers": {
        # These two bring handlers of their own, without the filters.
        "django": {"handlers": [], "propagate": True},
        "uvicorn": {"handlers": [], "propagate": True, "level": "WARNING"},
        "py.warnings": {"level": "ERROR"},
        # django-axes logs names and addresses in its warnings; the audit log records what is needed.
        "axes": {"level": "ERROR"},
        # Any program can name a host that is not ours; the refused request itself is one line.
        "django.security.DisallowedHost": {"level": "CRITICAL"},
    },
}

EMAIL_URL = env.str("EMAIL_URL", default="")
"""The mail server for notices of alerts, such as smtp+tls://user:password@mail.example.org:587; empty: no e-mail."""
if EMAIL_URL:
    vars().update(env.email_url("EMAIL_URL"))
EMAIL_TIMEOUT = 10
DEFAULT_FROM_EMAIL = env.str("EMAIL_FROM", default="") or f"parley@{urlsplit(SITE_URL).hostname}"

METRICS_TOKEN = env.str("METRICS_TOKEN", default="")
"""The bearer token that Prometheus needs to read /metrics; if it is empty, the page does not exist."""
if SENTRY_DSN := env.str("SENTRY_DSN", default=""):
    report_to(SENTRY_DSN)
