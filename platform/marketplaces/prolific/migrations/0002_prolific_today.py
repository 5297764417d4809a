import django.db.models.deletion
import django.utils.timezone
import uuid
from django.db import migrations, models


class Migration(migrations.Migration):
    dependencies = [
        ("marketplaces", "0002_alter_account_address"),
        ("prolific", "0001_publications"),
    ]

    operations = [
        migrations.CreateModel(
            name="HookEvent",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("name", models.CharField(max_length=64, unique=True)),
                ("signature", models.CharField(max_length=64, unique=True)),
                ("at", models.DateTimeField(db_index=True, default=django.utils.timezone.now)),
            ],
            options={
                "verbose_name": "event of a webhook",
                "verbose_name_plural": "events of webhooks",
            },
        ),
        migrations.AddField(
            model_name="publication",
            name="filters",
            field=models.JSONField(blank=True, default=list, verbose_name="filters"),
        ),
        migrations.AddField(
            model_name="publication",
            name="screen_out_reward",
            field=models.DecimalField(
                blank=True,
                decimal_places=2,
                max_digits=8,
                null=True,
                verbose_name="paid by Prolific to who is screened out",
            ),
        ),
        migrations.AddField(
            model_name="publication",
            name="treatments",
            field=models.JSONField(
                blank=True, default=dict, help_text="of an address for each treatment: its key, and the cell's number"
            ),
        ),
        migrations.AddField(
            model_name="submission",
            name="authenticity",
            field=models.CharField(
                blank=True,
                choices=[("high", "high"), ("mixed", "mixed"), ("low", "low"), ("unknown", "not told")],
                max_length=12,
                verbose_name="authenticity",
            ),
        ),
        migrations.CreateModel(
            name="Hook",
            fields=[
                ("id", models.BigAutoField(auto_created=True, primary_key=True, serialize=False, verbose_name="ID")),
                ("uid", models.UUIDField(default=uuid.uuid4, editable=False, unique=True)),
                ("workspace", models.CharField(max_length=40)),
                ("sealed_secret", models.TextField(blank=True, editable=False)),
                ("subscribed_at", models.DateTimeField(null=True)),
                (
                    "account",
                    models.ForeignKey(
                        on_delete=django.db.models.deletion.CASCADE,
                        related_name="prolific_hooks",
                        to="marketplaces.account",
                    ),
                ),
            ],
            options={
                "verbose_name": "webhook",
                "verbose_name_plural": "webhooks",
                "constraints": [
                    models.UniqueConstraint(fields=("account", "workspace"), name="one_hook_per_workspace")
                ],
            },
        ),
    ]
