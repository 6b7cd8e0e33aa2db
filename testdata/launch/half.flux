#!/bin/bash
# flux: --job-name=exa-workbench-half
# flux: --setattr=user.exa="workbench vision/half 01JDXZ5K7R"
# flux: --nodes=1
# flux: --nslots=1
# flux: --cores-per-slot=3
# flux: --gpus-per-slot=1
# flux: --output=/home/ada/work/flux-{{id}}.out
set -euo pipefail
cd /home/ada/work

exec flux run --nodes=1 --ntasks=1 --cores-per-task=3 --gpus-per-task=1 --setopt=exit-on-error jupyter server --no-browser --port=8888
