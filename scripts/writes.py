"""Every call that changes a database: was it executed, and had the user agreed to it?"""

import pandas as pd

from toolcal import logs, tables
from toolcal.benchmarks import case_table
from toolcal.writes import table


def main(smk):
    logs.to_file(smk.log[0])
    of_cell = zip(smk.input.cases, smk.input.trajectories, smk.input.user_messages, smk.input.grades, strict=True)
    found = [
        table.to_frame(
            tables.read("trajectories", trajectories),
            tables.read("user_messages", user_messages),
            {case.case_id: case for case in case_table.from_frame(tables.read("cases", cases))},
            tables.read("grades", grades),
        )
        for cases, trajectories, user_messages, grades in of_cell
    ]
    tables.write("writes", pd.concat(found), smk.output.writes, {"code": smk.params.code})


if "snakemake" in globals():
    main(snakemake)  # noqa: F821
