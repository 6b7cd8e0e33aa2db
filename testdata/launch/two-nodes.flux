#!/bin/bash
# flux: --job-name=exa-training-llama
# flux: --setattr=user.exa="training vision/llama 01JDXZ5K7Q"
# flux: --nodes=2
# flux: --nslots=2
# flux: --cores-per-slot=16
# flux: --gpus-per-slot=4
# flux: --requires=a100
# flux: --queue=gpu
# flux: --setattr=bank='"vision@a100"'
# flux: --time-limit=95400s
# flux: --output=/data/runs/llama/flux-{{id}}.out
set -euo pipefail
cd /data/runs/llama

# the host of rank 0
EXA_HEAD_NODE=$(flux hostlist --nth=0 instance)
export EXA_HEAD_NODE

# of this job; a task is told only of the job within it
EXA_JOB_ID=$(flux getattr jobid)
export EXA_JOB_ID

export OMP_NUM_THREADS=4
exec flux run --nodes=2 --ntasks=2 --cores-per-task=16 --gpus-per-task=4 --setopt=exit-on-error torchrun --nnodes=2 --nproc_per_node=4 --rdzv_backend=c10d --rdzv_endpoint="$EXA_HEAD_NODE":29500 --rdzv_id="$EXA_JOB_ID" --log_dir=logs --redirects=1 --tee=1 train.py --strategy=fsdp --checkpoint-every=10min
