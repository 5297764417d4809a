import django.db.models.deletion
import django.utils.timezone
import panels.models
import uuid
from django.conf import settings
from django.db import migrations, models


class Migration(migrations.Migration):
    initial = True

    dependencies = [
        ("payouts", "0003_paid_elsewhere"),
        ("studies", "0017_other_games_in_a_session"),
        migrations.swappable_dependency(settings.AUTH_USER_MODEL),
    ]

    operations = [
        migrations.CreateModel(
            name="Panel",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("preset", models.CharField(editable=False, max_length=40, verbose_name="preset")),
                (
                    "title",
                    models.CharField(
                        help_text="Participants read it: “Back to …”.", max_length=60, verbose_name="name"
                    ),
                ),
                (
                    "person",
                    models.CharField(
                        help_text="The field of the link that says who it is. Several names: the one that is there counts.",
                        max_length=200,
                        validators=[panels.models.check_names],
                        verbose_name="person",
                    ),
                ),
                (
                    "task",
                    models.CharField(
                        blank=True,
                        help_text="The field that says for which project. Empty: there is none.",
                        max_length=200,
                        validators=[panels.models.check_names],
                        verbose_name="task",
                    ),
                ),
                (
                    "session",
                    models.CharField(
                        blank=True,
                        help_text="The field that is this one visit's. With it, knowing somebody's ID does not open their game. Empty: there is none, and people can go on only in the browser in which they began.",
                        max_length=200,
                        validators=[panels.models.check_names],
                        verbose_name="session",
                    ),
                ),
                (
                    "check_by",
                    models.CharField(
                        choices=[
                            ("nothing", "nothing: whoever makes up an ID gets in"),
                            ("invited", "a list of invited IDs: whoever knows one gets in"),
                            ("signed", "a link signed with a secret that the panel and Parley share"),
                            ("token", "a token (JWT) signed with a key of the panel's"),
                        ],
                        default="nothing",
                        max_length=10,
                        verbose_name="arrivals are checked by",
                    ),
                ),
                (
                    "signature",
                    models.CharField(
                        default="signature",
                        max_length=60,
                        validators=[panels.models.check_names],
                        verbose_name="field of the signature or token",
                    ),
                ),
                ("sealed_secret", models.TextField(blank=True, editable=False)),
                (
                    "public_keys",
                    models.TextField(
                        blank=True,
                        help_text="RSA keys, as PEM or as a JSON Web Key Set. Tokens are RS256.",
                        verbose_name="public keys",
                    ),
                ),
                (
                    "sites",
                    models.TextField(
                        blank=True,
                        help_text="The panel's own sites, one a line, such as https://panel.example.org. People are sent to no other.",
                        validators=[panels.models.check_sites],
                        verbose_name="sites",
                    ),
                ),
                ("to_completed", models.CharField(blank=True, max_length=500, verbose_name="completed")),
                ("to_screened_out", models.CharField(blank=True, max_length=500, verbose_name="screened out")),
                ("to_partial", models.CharField(blank=True, max_length=500, verbose_name="ended early, with pay")),
                ("to_over_quota", models.CharField(blank=True, max_length=500, verbose_name="all places are taken")),
                (
                    "to_withdrew",
                    models.CharField(blank=True, max_length=500, verbose_name="withdrew, or ended early without pay"),
                ),
                (
                    "pays",
                    models.CharField(
                        choices=[
                            ("list", "we pay everything, by a list"),
                            ("bonuses", "the panel pays the base pay, we pay bonuses by a list"),
                            ("panel", "the panel pays everything"),
                        ],
                        default="list",
                        max_length=10,
                        verbose_name="who pays",
                    ),
                ),
                (
                    "columns",
                    models.TextField(
                        help_text="One a line, as “Column = variable”, in the order in which your panel wants them.",
                        verbose_name="columns of the payment list",
                    ),
                ),
                (
                    "lasting",
                    models.BooleanField(
                        default=True,
                        help_text="Then rests and limits between studies of this panel hold.",
                        verbose_name="an ID means the same person in every study",
                    ),
                ),
                (
                    "study",
                    models.OneToOneField(
                        editable=False,
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="panel",
                        to="studies.study",
                        verbose_name="study",
                    ),
                ),
            ],
            options={
                "verbose_name": "panel",
                "verbose_name_plural": "panels",
                "ordering": ["pk"],
            },
        ),
        migrations.CreateModel(
            name="PaymentList",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uid", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("number", models.PositiveIntegerField(verbose_name="number")),
                ("made_at", models.DateTimeField(default=django.utils.timezone.now, verbose_name="made")),
                (
                    "made_by",
                    models.ForeignKey(
                        null=True, on_delete=django.db.models.deletion.SET_NULL, to=settings.AUTH_USER_MODEL
                    ),
                ),
                ("rows", models.ManyToManyField(related_name="lists", to="payouts.ledgerrow")),
                (
                    "study",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="payment_lists",
                        to="studies.study",
                        verbose_name="study",
                    ),
                ),
            ],
            options={
                "verbose_name": "payment list",
                "verbose_name_plural": "payment lists",
                "ordering": ["-number"],
                "constraints": [
                    models.UniqueConstraint(fields=("study", "number"), name="one_payment_list_per_number")
                ],
            },
        ),
    ]
