from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("raised", "told"),
    [
        ("ValueError('seed: no')", "toolcal: seed: no (log: x.log)"),
        ("KeyError('a')", "toolcal: KeyError: 'a' (log: x.log)"),
    ],
)
def test_an_error_is_told_in_one_line_and_kept_in_full(tmp_path, raised, told):
    code = f"from toolcal import logs; logs.to_file('x.log'); raise {raised}"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr == f"{told}\n"
    assert "Traceback" in (tmp_path / "x.log").read_text()
