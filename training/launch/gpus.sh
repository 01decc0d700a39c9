#!/usr/bin/env bash
# One machine with several GPUs: trains on all of them, in one process.
#   training/launch/gpus.sh RECIPE DATA --out RUN
# Started again, it goes on where it was stopped.
set -euo pipefail
exec keras-vit train "$@" --strategy mirrored --resume-if-any
