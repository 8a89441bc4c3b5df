"""The action class of every emission of a model, by each labeller."""

from toolcal import logs, tables
from toolcal.benchmarks.case_table import tools_from_json


def main(smk):
    logs.to_file(smk.log[0])
    # The cue file is read on import; what is wrong in it has to reach the log.
    from toolcal.actions import requests
    from toolcal.actions.label import label_trajectories

    trajectories = tables.read("trajectories", *smk.input.trajectories)
    contexts = tables.read("contexts", *smk.input.contexts)
    tools = {
        (row["scenario"], row["perturbation"], row["case_id"]): [
            (turn, tool["function"]["name"]) for turn, tool in tools_from_json(row["tools"])
        ]
        for row in tables.records(contexts)
    }
    user_messages = tables.read("user_messages", *smk.input.user_messages)
    said = requests.from_tables(contexts, user_messages)
    data = label_trajectories(trajectories, tools, smk.params.labellers, said)
    tables.write(
        "actions", data, smk.output.actions, {"labellers": list(smk.params.labellers), "code": smk.params.code}
    )


if "snakemake" in globals():
    main(snakemake)  # noqa: F821
