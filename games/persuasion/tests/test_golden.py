import json

import pytest

from games.persuasion.tests import golden


@pytest.mark.parametrize("name", golden.MATCHES)
def test_the_match_is_played_as_it_was_kept(name):
    assert json.loads(json.dumps(golden.playthrough(name))) == golden.kept(name)
