"""Imports what Snakemake and its jobs import, as they go about it themselves, and then forgets toolcal."""

from __future__ import annotations

import gc
import runpy
import sys

import bfcl_eval.eval_checker.multi_turn_eval.multi_turn_checker  # noqa: F401
import matplotlib.font_manager  # noqa: F401  (looks up the machine's fonts)
import snakemake.cli
import snakemake.script  # noqa: F401

from tests.conftest import ROOT
from toolcal.models.litellm_client import client

client()
for path in (ROOT / "scripts").glob("*.py"):
    runpy.run_path(str(path))  # nothing but its imports, for it is not Snakemake that runs it
for name in [name for name in sys.modules if name.partition(".")[0] == "toolcal"]:
    del sys.modules[name]
gc.freeze()
