"""What a model reads of a case, and what changes it: static edits before the run, probes during it.

`registry` applies a perturbation of the configuration to a case; `static` holds the edits, `probes` the probes.
"""

from toolcal.perturbations.context import Context, baseline, from_frame, to_frame

__all__ = ["Context", "baseline", "from_frame", "to_frame"]
