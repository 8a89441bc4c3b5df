import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]


def test_the_rules_load_no_tables():
    """Every job is a start of Snakemake, which reads them all."""
    lines = [
        line
        for path in (ROOT / "rules").glob("*.smk")
        for line in re.findall(r"^from toolcal.*$", path.read_text(), re.M)
    ]
    assert len(lines) > 5
    code = "\n".join(["import sys", *lines, "print(*{'pandas', 'pyarrow', 'matplotlib'} & set(sys.modules))"])
    found = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert found.stdout.split() == []
