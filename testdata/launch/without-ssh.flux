#!/bin/bash
# flux: --job-name=exa-training-zero
# flux: --setattr=user.exa="training vision/zero 01JDXZ5K7Q"
# flux: --nodes=2
# flux: --nslots=2
# flux: --cores-per-slot=64
# flux: --gpus-per-slot=8
# flux: --output=/data/runs/llama/flux-{{id}}.out
set -euo pipefail
cd /data/runs/llama

# the host of rank 0
EXA_HEAD_NODE=$(flux hostlist --nth=0 instance)
export EXA_HEAD_NODE

# of this job; a task is told only of the job within it
EXA_JOB_ID=$(flux getattr jobid)
export EXA_JOB_ID

exec flux run --nodes=2 --ntasks=2 --cores-per-task=64 --gpus-per-task=8 --setopt=exit-on-error sh -c 'exec sh -c '\''printf "%s slots=8\n" node-0 node-1 >"$0" && exec "$@"'\'' deepspeed-hostfile-"$EXA_JOB_ID"-"$FLUX_TASK_RANK" deepspeed --hostfile=deepspeed-hostfile-"$EXA_JOB_ID"-"$FLUX_TASK_RANK" --no_ssh --node_rank="$FLUX_TASK_RANK" --master_addr="$EXA_HEAD_NODE" --num_nodes=2 --num_gpus=8 --master_port=29500 --no_local_rank train.py --strategy=zero'
