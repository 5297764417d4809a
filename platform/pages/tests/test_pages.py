"""A researcher's own pages: text, image, video, a minimum time; and how files are stored and served."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pages.files import MAX_IMAGE_BYTES, BadMedia, mime_type_of, store
from pages.models import Media
from pages.views import MAX_PART
from participants.models import Enrolment
from participants.services import expiry_after
from participants.states import State
from tests.visitors import Visitor, heading_of, shown_earlier, text_of

pytestmark = pytest.mark.django_db

PNG = b"\x89PNG\r\n\x1a\n" + b"pixels" * 10
MP4 = b"\x00\x00\x00\x18ftypmp42" + bytes(range(256)) * 8192


def at(**step) -> Visitor:
    steps = [{"kind": "page", "name": "opening", **step}, {"kind": "page", "name": "last", "title": "The end"}]
    return Visitor(Enrolment.objects.create(steps=steps, state=State.CONSENTED, expires_at=expiry_after(30)))


def test_a_page_shows_its_text_and_files_and_leads_on():
    image, video = store("s", "map.png", PNG), store("s", "film.mp4", MP4)
    visitor = at(title="Before", text="Hello **you** <b>", image=image.as_shown("A map"), video=video.as_shown())
    page = visitor.see()
    html = page.content.decode()
    assert heading_of(page) == "Before" and "<strong>you</strong> &lt;b&gt;" in html
    assert f'<img src="{image.get_absolute_url()}" alt="A map">' in html and video.get_absolute_url() in html
    assert visitor.send().status_code == 302
    assert heading_of(visitor.see()) == "The end"


def test_time_is_kept_by_the_server():
    visitor = at(seconds=20)
    assert 'data-wait="20"' in visitor.see().content.decode()
    assert "You can continue in" in text_of(visitor.refused())
    shown_earlier(visitor.now(), timedelta(seconds=21))
    assert "data-wait" not in visitor.see().content.decode()
    assert visitor.send().status_code == 302


@pytest.mark.parametrize(
    ("data", "mime_type"),
    [
        (PNG, "image/png"), (b"\xff\xd8\xff\xe0", "image/jpeg"), (b"GIF89a", "image/gif"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "image/webp"), (MP4, "video/mp4"), (b"\x1a\x45\xdf\xa3\x01", "video/webm"),
    ],
)  # fmt: skip
def test_types_are_read_from_the_content(data, mime_type):
    assert mime_type_of(data) == mime_type


@pytest.mark.parametrize("data", [b"", b"<svg xmlns='http://www.w3.org/2000/svg'/>", b"<html>", b"RIFF0000WAVE"])
def test_other_files_are_refused(data):
    with pytest.raises(BadMedia, match="PNG, JPEG, WebP or GIF"):
        store("s", "map.png", data)
    with pytest.raises(BadMedia, match="5 MB"):
        store("s", "map.png", PNG + b"\x00" * MAX_IMAGE_BYTES)


def test_a_replaced_file_stays_for_the_versions_that_show_it(client):
    old, new = store("s", "map.png", PNG), store("s", "map.png", PNG + b"new")
    assert store("s", "map.png", PNG + b"new") == new
    assert Media.objects.count() == 2
    assert client.get(old.get_absolute_url()).content == PNG


class TestServing:
    @pytest.fixture
    def video(self) -> Media:
        return store("s", "film.mp4", MP4)

    def test_files_are_cached_for_good_and_never_sniffed(self, client, video):
        response = client.get(video.get_absolute_url())
        assert response.content == MP4 and response["Content-Type"] == "video/mp4"
        assert "immutable" in response["Cache-Control"] and response["X-Content-Type-Options"] == "nosniff"
        again = client.get(video.get_absolute_url(), headers={"If-None-Match": response["ETag"]})
        assert (again.status_code, again.content) == (304, b"")
        head = client.head(video.get_absolute_url())
        assert head["Content-Length"] == str(len(MP4)) and head.content == b""

    @pytest.mark.parametrize(
        ("asked", "first", "last"),
        [
            ("bytes=0-1", 0, 1),
            ("bytes=10-", 10, 9 + MAX_PART),
            ("bytes=-5", len(MP4) - 5, len(MP4) - 1),
            (f"bytes={len(MP4) - 2}-99999999", len(MP4) - 2, len(MP4) - 1),
        ],
    )
    def test_parts_are_served(self, client, video, asked, first, last):
        response = client.get(video.get_absolute_url(), headers={"Range": asked})
        assert response.status_code == 206
        assert response["Content-Range"] == f"bytes {first}-{last}/{len(MP4)}"
        assert response.content == MP4[first : last + 1] and int(response["Content-Length"]) == last + 1 - first

    def test_parts_beyond_the_end_are_refused_and_odd_requests_get_everything(self, client, video):
        beyond = client.get(video.get_absolute_url(), headers={"Range": f"bytes={len(MP4)}-"})
        assert beyond.status_code == 416 and beyond["Content-Range"] == f"bytes */{len(MP4)}"
        for odd in ({"Range": "bytes=0-1,3-4"}, {"Range": "bytes=0-1", "If-Range": '"other"'}):
            assert client.get(video.get_absolute_url(), headers=odd).status_code == 200

    def test_unknown_files_are_not_found(self, client):
        assert client.get(f"/media/{'0' * 64}").status_code == 404
