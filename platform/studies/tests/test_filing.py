"""Studies as files: what is exported can be imported, and what cannot be used is refused with every reason."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from contextlib import suppress

import pytest

from pages.models import Media
from plans.canonical import canonical
from plans.files import dumps
from plans.library import ready_made
from plans.reading import BadPlan
from studies.drafting import copy
from studies.filing import export_study, import_study
from studies.models import Study
from studies.tests.kit import PNG, new_study, with_image
from studies.tests.kit import document as kit_document

pytestmark = pytest.mark.django_db


def test_a_study_and_its_file_say_the_same():
    study = new_study("talk", grid={"money": [100, 1000]})
    name, content = export_study(study)
    imported = import_study(content)
    assert name == "talk.yaml"
    assert canonical(imported.draft) == canonical(study.draft)
    assert imported.status == Study.Status.DRAFT


def test_every_ready_made_study_survives_its_file():
    for ready in ready_made("studies").values():
        imported = import_study(ready.text.encode())
        again = import_study(export_study(imported)[1])
        assert canonical(again.draft) == canonical(imported.draft) == canonical(ready.document), ready.name


def test_endpoints_of_agents_that_vary_are_checked_too():
    document = kit_document(agents={"gpt": {"endpoint": "nowhere", "model": "m"}})
    document["factors"] = {"kind": {"levels": ["a", "b"]}}
    script = {"gpt": {"script": "fair"}}
    document["agents"] = {"by": "kind", "values": {"a": document["agents"], "b": script}}
    with pytest.raises(BadPlan) as refused:
        import_study(dumps(document).encode())
    assert [fault.at for fault in refused.value.faults] == ["agents.gpt.endpoint"]


def test_an_import_gives_every_reason_at_once():
    document = kit_document(agents={"gpt": {"endpoint": "nowhere", "model": "m"}})
    document |= {"version": 2, "journey": [*document["journey"], {"stage": "dance"}]}
    document["journey"].append({"stage": "game", "name": "mate", "game": "chess", "seats": {"*": "nobody"}})
    with pytest.raises(BadPlan) as refused:
        import_study(dumps(document).encode())
    assert {fault.at for fault in refused.value.faults} == {
        *("version", "journey.2.stage", "journey.3.game", "agents.gpt.endpoint")
    }
    assert not Study.objects.exists()


def test_a_collection_is_no_study():
    collection = next(iter(ready_made("collections").values()))
    with pytest.raises(BadPlan):
        import_study(collection.text.encode())


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


def test_a_file_that_is_no_image_is_refused():
    _name, content = export_study(with_image())
    text = b"not an image"
    with zipfile.ZipFile(io.BytesIO(content)) as old:
        plan = old.read("study.yaml")
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as new:
        new.writestr("study.yaml", plan)
        new.writestr("media.json", json.dumps({"dot.png": hashlib.sha256(text).hexdigest()}))
        new.writestr(f"media/{hashlib.sha256(text).hexdigest()}", text)
    with pytest.raises(BadPlan) as refused:
        import_study(stream.getvalue())
    assert "dot.png" in refused.value.faults[0].what
    assert Study.objects.count() == 1


def test_no_damaged_zip_file_is_a_crash():
    _name, content = export_study(with_image())
    for place in range(0, len(content), 7):
        damaged = bytearray(content)
        damaged[place] ^= 0xFF
        with suppress(BadPlan):
            import_study(bytes(damaged))


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
