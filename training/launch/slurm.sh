#!/usr/bin/env bash
# Not run by Slurm: a test runs it with a stand-in for srun, on the CPU.
# Slurm: one worker a node, with all GPUs of the node.
#   sbatch --nodes=4 --gpus-per-node=8 training/launch/slurm.sh RECIPE DATA --out RUN
# DATA and RUN are on disks that all nodes see. Two minutes before the end of its time the job saves
# its state and queues again; a node that is lost makes it queue again, too.
#SBATCH --job-name=keras-vit
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=1
#SBATCH --gpus-per-node=1
#SBATCH --time=24:00:00
#SBATCH --signal=TERM@120
#SBATCH --requeue
#SBATCH --open-mode=append
set -euo pipefail

code=0
srun --kill-on-bad-exit=1 keras-vit train "$@" --strategy workers --resume-if-any || code=$?
if [ "$code" = 42 ]; then # the state is saved
  scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
