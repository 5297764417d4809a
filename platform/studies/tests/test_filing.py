"""Studies as files: what is exported can be imported, and what cannot be used is refused with every reason."""

from __future__ import annotations

import io
import zipfile

import pytest

from pages.files import store
from pages.models import Media
from plans.canonical import canonical
from plans.files import dumps
from plans.reading import BadPlan
from studies.copying import copy
from studies.filing import export_study, import_study
from studies.models import Study
from studies.tests.kit import new_study

pytestmark = pytest.mark.django_db
PNG = bytes.fromhex(
    "89504e470d0a1a0a0000000d4948445200000001000000010806000000"
    "1f15c4890000000d49444154789c6360606060000000050001a5f645400000000049454e44ae426082"
)


def with_image() -> Study:
    study = new_study("pictured")
    page = {"stage": "page", "name": "picture", "image": "dot.png"}
    study.draft["journey"].insert(1, page)
    study.save()
    store(study.slug, "dot.png", PNG)
    return study


def test_a_study_and_its_file_say_the_same():
    study = new_study("talk", grid={"money": [100, 1000]})
    name, content = export_study(study)
    imported = import_study(content)
    assert name == "talk.yaml"
    assert canonical(imported.draft) == canonical(study.draft)
    assert imported.status == Study.Status.DRAFT


def test_images_travel_with_the_study():
    study = with_image()
    name, content = export_study(study)
    assert name == "pictured.zip"
    study.delete()
    imported = import_study(content)
    assert export_study(imported)[1][:2] == b"PK"


def test_images_are_copied_and_deleted_with_the_study():
    study = with_image()
    copied = copy(study)
    assert Media.objects.get(study=copied.slug).data == PNG
    study.delete()
    assert list(Media.objects.values_list("study", flat=True)) == [copied.slug]


def test_an_image_that_was_changed_on_the_way_is_refused():
    _name, content = export_study(with_image())
    stream = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(stream, "w") as new:
        for item in old.namelist():
            new.writestr(item, b"other" if item.startswith("media/") else old.read(item))
    with pytest.raises(BadPlan):
        import_study(stream.getvalue())


@pytest.mark.parametrize(
    "change, at",
    [
        ({"pay": {"base": -1}}, "pay.base"),
        ({"entry": {"via": "pigeon"}}, "entry.via"),
        ({"agents": {"gpt": {"endpoint": "nowhere", "model": "m"}}}, "agents.gpt.endpoint"),
        ({"journey": [{"stage": "consent"}, {"stage": "page", "name": "a", "image": "lost.png"}]}, "journey"),
    ],
)
def test_an_import_that_cannot_be_used_makes_nothing(change, at):
    document = {**new_study("talk").draft, **change}
    with pytest.raises(BadPlan) as refused:
        import_study(dumps(document).encode())
    assert at in {fault.at for fault in refused.value.faults}
    assert Study.objects.count() == 1


@pytest.mark.parametrize("content", [b"\xff\xfe", b"PK\x03\x04", b"[1]", b""])
def test_what_is_no_study_is_refused(content):
    with pytest.raises(BadPlan):
        import_study(content)
