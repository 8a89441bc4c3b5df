"""The stand-in itself: it plays along, soon ends, says the same to the same, and counts over processes."""

import json
import subprocess
import sys
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import jsonschema

from tests.models.test_json_mode import TOOLS, request
from tests.standins.endpoint import at_a_rate, endpoint
from tests.standins.player import play
from tests.timing import best_of, wall
from toolcal import calls
from toolcal.models import json_mode, python_list

ROOT = Path(__file__).parents[2]


def post(url, body, key="k"):
    made = urllib.request.Request(
        f"{url}/chat/completions", json.dumps(body).encode(), {"Authorization": f"Bearer {key}"}, method="POST"
    )
    with urllib.request.urlopen(made, timeout=30) as answer:
        return json.load(answer)


def conversation(opening):
    """A turn played to its end: its messages."""
    messages = [{"role": "user", "content": opening}]
    while len(messages) < 40:
        said = play({"messages": messages, "tools": TOOLS})["choices"][0]["message"]
        messages.append(said)
        if not said.get("tool_calls"):
            break
        messages += [{"role": "tool", "tool_call_id": call["id"], "content": "ok"} for call in said["tool_calls"]]
    return messages


def test_turns_are_varied_end_soon_and_fit_the_tools():
    turns = [conversation(f"Book a room in 'town {n}'.") for n in range(200)]
    steps = Counter(sum(message["role"] == "assistant" for message in turn) for turn in turns)
    assert max(steps) <= 5
    assert min(steps[1], steps[2], steps[3]) > 10
    openings = Counter(len(turn[1].get("tool_calls", ())) for turn in turns)
    assert set(openings) == {0, 1, 2}
    endings = {turn[-1]["content"] for turn in turns}
    assert any(text.endswith("?") for text in endings)
    assert any("can't" in text for text in endings)
    schemas = {tool["function"]["name"]: tool["function"]["parameters"] for tool in TOOLS}
    for turn in turns:
        for call in turn[1].get("tool_calls", ()):
            jsonschema.validate(json.loads(call["function"]["arguments"]), schemas[call["function"]["name"]])


def test_the_same_conversation_gets_the_same_answer_and_another_another():
    bodies = [{"messages": [{"role": "user", "content": f"Book {n}."}], "tools": TOOLS} for n in range(20)]
    assert [play(body) for body in bodies] == [play(json.loads(json.dumps(body))) for body in bodies]
    assert len({json.dumps(play(body)) for body in bodies}) == 20


def test_it_plays_in_every_mode():
    texts = []
    for n in range(30):
        asked = request(({"role": "user", "content": f"Book {n}."},))
        messages, response_format = json_mode.prompt(asked)
        action = play({"messages": messages, "response_format": response_format})["choices"][0]["message"]["content"]
        jsonschema.validate(json.loads(action), response_format["json_schema"]["schema"])
        texts.append(play({"messages": python_list.prompt(asked)})["choices"][0]["message"]["content"])
    read = [calls.parse({"content": text}, "stop", ("book", "status")) for text in texts]
    assert {one.status for one in read} == {"ok"}
    assert {len(one.calls) for one in read} == {0, 1, 2}


def test_faults_at_a_rate_depend_on_the_body_and_its_asking_alone():
    bodies = [{"messages": [n]} for n in range(200)]
    one, other = (at_a_rate(0.3, ["429", "500"], seed=5, at_most=2) for _ in range(2))
    forwards = [one(body, 0) for body in bodies]
    backwards = [other(body, 9) for body in reversed(bodies)][::-1]
    assert [fault and fault.status for fault in forwards] == [fault and fault.status for fault in backwards]
    assert 35 < sum(fault is not None for fault in forwards) < 85
    always = at_a_rate(1.0, ["500"], at_most=2)
    assert [always(bodies[0], n) is None for n in range(4)] == [False, False, True, True]


def test_requests_are_served_at_once_and_seen():
    with endpoint(latency=0.2) as server, ThreadPoolExecutor(32) as pool:
        answers = []

        def work():
            bodies = [{"messages": [{"role": "user", "content": str(n)}]} for n in range(32)]
            server.seen.clear(), server.bodies.clear()
            answers[:] = pool.map(lambda body: post(server.url, body), bodies)

        assert best_of(lambda: wall(work), 2) < 2
    assert len(server.seen) == len(server.bodies) == len({answer["id"] for answer in answers}) == 32
    assert server.most_at_once > 16
    assert {seen.authorization for seen in server.seen} == {"Bearer k"}


def test_as_a_program_it_prints_its_address_and_logs_every_request(tmp_path):
    log = tmp_path / "calls.jsonl"
    made = [
        sys.executable,
        "-m",
        "tests.standins.endpoint",
        "--log",
        str(log),
        "--faults",
        "1",
        "--kinds",
        "503 retry-after",
    ]
    body = {"messages": [{"role": "user", "content": "Hello"}]}
    for _ in range(2):
        with subprocess.Popen([*made, "--at-most", "0"], cwd=ROOT, stdout=subprocess.PIPE, text=True) as program:
            try:
                answer = post(program.stdout.readline().strip(), body, "sk-1")
            finally:
                program.kill()
        assert answer == play(body)
    lines = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(line["authorization"], line["outcome"]) for line in lines] == [("Bearer sk-1", "ok")] * 2
    assert lines[0]["key"] == lines[1]["key"]
    assert lines[0]["time"] < lines[1]["time"]
