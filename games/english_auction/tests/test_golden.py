import json

import pytest

from games.english_auction.tests.golden import FOLDER, KEY, MATCHES
from games.tests import goldens


@pytest.mark.parametrize("name", MATCHES)
def test_match_equals_its_stored_playthrough(name):
    assert json.loads(json.dumps(goldens.playthrough(KEY, MATCHES[name]))) == goldens.stored(FOLDER, name)
