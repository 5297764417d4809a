import django.db.models.deletion
from django.db import migrations, models
from django.utils.crypto import salted_hmac

import sealing


def seal_seeds(apps, schema_editor):
    for device in apps.get_model("otp_totp", "TOTPDevice").objects.all():
        sealed_seed = sealing.seal(device.key, purpose=b"parley: seeds of authenticator apps")
        app = apps.get_model("signin", "AuthenticatorApp")(totpdevice_ptr=device, sealed_seed=sealed_seed)
        app.save_base(raw=True)  # The row of the library's table exists.
        device.key = ""
        device.save(update_fields=["key"])


def hash_codes(apps, schema_editor):
    for code in apps.get_model("otp_static", "StaticToken").objects.all():
        value = f"{code.device_id}/{code.token}"
        code.token = salted_hmac("signin.recovery_codes", value, algorithm="sha256").hexdigest()[:16]
        code.save(update_fields=["token"])


class Migration(migrations.Migration):

    initial = True

    dependencies = [
        ('otp_static', '0003_add_timestamps'),
        ('otp_totp', '0003_add_timestamps'),
    ]

    operations = [
        migrations.CreateModel(
            name='AuthenticatorApp',
            fields=[
                ('totpdevice_ptr', models.OneToOneField(auto_created=True, on_delete=django.db.models.deletion.CASCADE, parent_link=True, primary_key=True, serialize=False, to='otp_totp.totpdevice')),
                ('sealed_seed', models.TextField(editable=False)),
            ],
            options={
                'verbose_name': 'authenticator app',
                'verbose_name_plural': 'authenticator apps',
            },
            bases=('otp_totp.totpdevice',),
        ),
        migrations.CreateModel(
            name='RecoveryCodes',
            fields=[
            ],
            options={
                'verbose_name': 'recovery codes',
                'verbose_name_plural': 'recovery codes',
                'proxy': True,
                'indexes': [],
                'constraints': [],
            },
            bases=('otp_static.staticdevice',),
        ),
        migrations.RunPython(seal_seeds),
        migrations.RunPython(hash_codes),
    ]
