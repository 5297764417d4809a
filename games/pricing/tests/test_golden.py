import json

import pytest

from games.pricing.tests.golden import FOLDER, KEY, MATCHES
from games.tests import goldens


@pytest.mark.parametrize("name", MATCHES)
def test_the_match_is_played_as_it_was_kept(name):
    assert json.loads(json.dumps(goldens.playthrough(KEY, MATCHES[name]))) == goldens.kept(FOLDER, name)
