# What jobs ask of a machine and share among them; profiles say how much of it there is.
from toolcal.models import demands


# Light ones: where jobs are sent to a cluster, these run on the machine that sends them.
localrules:
    cases,
    contexts,
    questions,
    figures,
    manifest,
    tables,


def asked_by(model, talks=False):
    """The entries of the models that a job asks, each once: of the model, and of its user where that is another one."""
    entry = config["models"][model]
    user = configuration.user(config) if talks and entry["source"] != "audit" else None
    return [entry] + ([user] if user not in (None, entry) else [])


def all_cores():
    """The cores that a run may use; 1 on a cluster, where `set-threads` of the profile says how many a job gets."""
    return workflow.resource_settings.cores or 1
