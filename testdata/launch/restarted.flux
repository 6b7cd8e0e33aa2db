#!/bin/bash
# flux: --job-name=exa-training-small
# flux: --setattr=user.exa="training vision/small 01JDXZ5K7Q"
# flux: --nodes=2
# flux: --nslots=2
# flux: --cores-per-slot=2
# flux: --queue=cpu
# flux: --output=/data/runs/llama/flux-{{id}}.out
set -euo pipefail
cd /data/runs/llama
EXA_LAUNCHER=$(type -P flux)

# the host of rank 0
EXA_HEAD_NODE=$(flux hostlist --nth=0 instance)
export EXA_HEAD_NODE

# of this job; a task is told only of the job within it
EXA_JOB_ID=$(flux getattr jobid)
export EXA_JOB_ID

export PATH=/opt/venv/bin:/usr/bin:/bin
export GREETING='good morning'
export EXA_ATTEMPT=0
until "$EXA_LAUNCHER" run --nodes=2 --ntasks=2 --cores-per-task=2 --setopt=exit-on-error torchrun --nnodes=2 --nproc_per_node=2 --rdzv_backend=c10d --rdzv_endpoint="$EXA_HEAD_NODE":29500 --rdzv_id="$EXA_JOB_ID" --log_dir=logs --redirects=1 --tee=1 --module vision.train --strategy=ddp --run 'it'\''s a test' '$HOME' '*'; do
  EXA_STATUS=$?
  [ "$EXA_ATTEMPT" -lt 3 ] || exit "$EXA_STATUS"
  EXA_ATTEMPT=$((EXA_ATTEMPT + 1))
done
