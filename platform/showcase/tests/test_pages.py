import pytest

pytestmark = pytest.mark.django_db


def test_x(settings, tmp_path, client):
    settings.DATA_DIR = tmp_path
    settings.DEMO = True
    from showcase.demo import create_demo

    create_demo()
    r = client.get("/")
    assert r.status_code == 200
    print(len(r.content))
    from games import registry

    for k in registry.keys():
        assert client.get(f"/demo/results/{k}/").status_code == 200, k
        r = client.get(f"/demo/friend/{k}/")
        print(k, r.status_code)
        r = client.post(f"/demo/watch/{k}/", follow=True)
        assert r.status_code == 200
        assert b"Step 1 of" in r.content
