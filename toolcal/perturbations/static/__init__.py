"""Static edits: what the model reads is changed before the run.

An edit is a pure function of (case, its context, the edit's parameters, a random generator of the case's own). It keeps
each tool's turn of arrival and leaves gold valid, or gives back the context with a reason in `left_out`. `edits.yaml`
holds the wording that is ours, and a version an edit.
"""
