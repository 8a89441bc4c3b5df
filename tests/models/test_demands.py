from __future__ import annotations

import pytest

from toolcal.models import demands

API = {"source": "api"}
SERVED = {"source": "vllm", "tensor_parallel": 4}
HERE = {"source": "embedded", "threads": 3}
SCRIPT = {"source": "policy"}


@pytest.mark.parametrize(
    ("asked", "api", "vllm", "gpus", "processors"),
    [
        ([SCRIPT], 0, 0, 0, 1),
        ([API], 1, 0, 0, 1),
        ([API, API], 1, 0, 0, 1),  # an agent and its user
        ([SERVED], 0, 1, 4, 1),
        ([HERE], 0, 0, 0, 3),
        ([API, SERVED], 1, 1, 4, 1),
        ([HERE, SERVED | {"tensor_parallel": 1}], 0, 1, 1, 3),
    ],
)
def test_a_job_needs_what_the_models_that_it_asks_need(asked, api, vllm, gpus, processors):
    found = (demands.jobs("api", *asked), demands.jobs("vllm", *asked), demands.gpus(*asked))
    assert (*found, demands.processors(*asked)) == (api, vllm, gpus, processors)
