import json

import pytest

from games.bargaining.tests import golden


@pytest.mark.parametrize("name", golden.MATCHES)
def test_match_equals_its_stored_playthrough(name):
    assert json.loads(json.dumps(golden.playthrough(name))) == golden.stored(name)
