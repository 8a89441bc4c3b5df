"""Names of noise levels."""

from __future__ import annotations

import pytest

from toolcal.confidence.plan import level


@pytest.mark.parametrize(
    ("noise", "name"), [(0, "0"), (0.0, "0"), (0.5, "0.5"), (1.0, "1"), (0.25, "0.25"), (0.1, "0.1")]
)
def test_a_noise_level_is_named_as_short_as_it_can_be_and_read_back(noise, name):
    assert level(noise) == name
    assert float(name) == noise
