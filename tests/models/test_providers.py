"""Providers with an API of their own, in their own words: what they sign has to come back to them."""

import json

import pytest

from tests.models.asking import warm, with_chat  # noqa: F401
from tests.standins.endpoint import endpoint
from toolcal import perturbations, rollout

SIGNATURE = "c2lnbmVkLWJ5LXRoZS1wcm92aWRlcg=="


def claude(body):
    """Anthropic's Messages API: thinking and a call first, then text."""
    called = any(message["role"] == "assistant" for message in body["messages"])
    content = [{"type": "thinking", "thinking": "Look first.", "signature": SIGNATURE}]
    if called:
        content = [{"type": "text", "text": "The request is done."}]
    else:
        content += [{"type": "tool_use", "id": "toolu_1", "name": body["tools"][0]["name"], "input": {}}]
    return 200, {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-sonnet-4-5",
        "content": content,
        "stop_reason": "end_turn" if called else "tool_use",
        "usage": {"input_tokens": 11, "output_tokens": 5},
    }


def gemini(body):
    """Gemini's generateContent: a signed call first, then text."""
    called = any(message["role"] == "model" for message in body["contents"])
    name = body["tools"][0]["function_declarations"][0]["name"]
    call = {"functionCall": {"name": name, "args": {}}, "thoughtSignature": SIGNATURE}
    part = {"text": "The request is done."} if called else call
    return 200, {
        "candidates": [{"content": {"role": "model", "parts": [part]}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 11, "candidatesTokenCount": 5, "totalTokenCount": 16},
        "modelVersion": "gemini-2.5-pro",
    }


@pytest.mark.parametrize(
    ("model", "answer", "said"),
    [
        ("anthropic/claude-sonnet-4-5", claude, "messages"),
        ("gemini/gemini-2.5-pro", gemini, "contents"),
    ],
)
def test_a_signature_goes_back_and_the_turn_goes_on(tmp_path, bfcl, bfcl_cases, model, answer, said):
    case = bfcl_cases["base"][0]
    one_turn = perturbations.Context(None, case.turns[:1], case.tools)

    async def work(chat):
        return (await rollout.run_case(case, one_turn, chat, bfcl)).trajectories

    with endpoint(answer) as server:
        rows = with_chat(
            tmp_path / "j",
            server.url.removesuffix("/v1"),
            work,
            model=model,
            key="standin-key-of-a-provider",
            parameters={"max_tokens": 2000},
        )
    assert [row["status"] for row in rows] == ["ok", "ok"], rows[0]["raw"]
    assert json.loads(rows[0]["tool_calls"])[0]["function"]["name"] == case.tools[0][1]["function"]["name"]
    assert (rows[0]["prompt_tokens"], rows[0]["completion_tokens"]) == (11, 5)
    assert rows[1]["content"] == "The request is done."
    history = json.dumps(server.bodies[1][said])
    assert SIGNATURE in history
    assert "seed" in json.loads(rows[0]["sent"])["dropped"] or "gemini" in model
