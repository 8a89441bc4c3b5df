"""What a snippet tries in vain, as the user who runs the tests and, where that is root, as a normal user too."""

from __future__ import annotations

import ast
import json
import os
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pytest

from tests.confidence.sandbox.battery import HOSTILE, LIMITS, tried
from tests.conftest import ROOT
from toolcal.confidence.sandbox.child import LIBRARIES
from toolcal.confidence.sandbox.run import layers

pytestmark = pytest.mark.skipif(len(layers()) < 2, reason="this kernel lacks Landlock or seccomp")

SECRET = "sk-not-to-be-seen"


def processes(text):
    """Ids of the processes whose command line or folder holds the text."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if text in (entry / "cmdline").read_text() or text in str((entry / "cwd").readlink()):
                    found.append(int(entry.name))
            except OSError:
                pass
    return found


def state(folder):
    return {path: (path.read_bytes(), path.stat().st_mode, path.stat().st_mtime_ns) for path in folder.rglob("*")}


@pytest.fixture
def outside(tmp_path):
    with tempfile.TemporaryDirectory() as folder:  # where another user gets, too
        Path(folder).chmod(0o777)
        kept = Path(folder, "kept")
        kept.write_text("kept")
        kept.chmod(0o666)
        yield Path(folder)


def withstood(found):
    assert set(found) == set(HOSTILE)
    for name, (_, fault, word) in HOSTILE.items():
        got, message, seconds = found[name]
        assert (got, word in message) == (fault, True), (name, got, message)
        assert seconds < LIMITS.seconds + 1, name
        assert SECRET not in message
        assert len(message) < LIMITS.output_bytes + 100
    names = {*LIBRARIES, "LC_CTYPE"}  # the last is Python's own doing
    assert set(ast.literal_eval(found["environment"][1].splitlines()[0])) <= names


def test_as_the_user_of_the_tests(outside, monkeypatch, tmp_path):
    monkeypatch.setenv("SOME_API_KEY", SECRET)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    before = state(outside)
    withstood(tried(outside))
    assert state(outside) == before
    assert list(tmp_path.iterdir()) == []
    assert processes(str(tmp_path)) == []


@pytest.mark.skipif(os.getuid() != 0, reason="the test above is it, unless that is root")
def test_as_a_normal_user(outside, tmp_path):
    python = next((p for p in ("/usr/bin/python3", "/usr/local/bin/python3") if Path(p).exists()), None)
    if python is None or subprocess.run([python, "-c", "import sys; assert sys.version_info >= (3, 11)"]).returncode:
        pytest.skip("no Python that a normal user may run")
    with tempfile.TemporaryDirectory() as folder:
        Path(folder).chmod(0o755)
        home, scratch = Path(folder, "code"), Path(folder, "scratch")
        scratch.mkdir()
        scratch.chmod(0o777)
        kept = shutil.ignore_patterns("__pycache__")
        shutil.copytree(ROOT / "toolcal", home / "toolcal", ignore=kept)
        shutil.copytree(ROOT / "tests/confidence", home / "tests/confidence", ignore=kept)
        before = state(outside)
        done = subprocess.run(
            [python, "-m", "tests.confidence.sandbox.battery", str(outside)],
            cwd=home,
            env={"SOME_API_KEY": SECRET, "TMPDIR": str(scratch)},
            user="nobody",
            group="nogroup",
            extra_groups=[],
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        user, found = json.loads(done.stdout)
        assert user != 0
        withstood(found)
        assert state(outside) == before
        assert list(scratch.iterdir()) == []
        assert processes(folder) == []


def test_it_does_not_outlive_a_parent_that_is_killed(tmp_path):
    code = """
from toolcal.confidence.interpreter import Interpreter
tool = Interpreter()
print("ready", flush=True)
tool.run({"code": "import time\\ntime.sleep(9)"})
"""
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", code], env=environment, cwd=ROOT, stdout=subprocess.PIPE) as parent:
        assert parent.stdout.readline() == b"ready\n"
        deadline = time.monotonic() + 8
        while not (children := processes(str(tmp_path))) and time.monotonic() < deadline:
            time.sleep(0.01)
        assert children
        time.sleep(0.3)
        assert processes(str(tmp_path)) == children
        parent.send_signal(signal.SIGKILL)
    while processes(str(tmp_path)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert processes(str(tmp_path)) == []
