#!/usr/bin/env bash
# Not run: no TPU was at hand. `keras-vit tpu-check` compiles the training step for one.
# A TPU VM with all its chips (up to 8): makes it, installs, trains, and fetches the run.
#   ZONE=us-west4-a training/launch/tpu_vm.sh NAME RECIPE tfds:DATA --out RUN
# It is paid for until: gcloud compute tpus tpu-vm delete NAME --zone ZONE
set -euo pipefail

name=$1 out=${*: -1}
shift
tpu() { gcloud compute tpus tpu-vm "$1" "${@:2}" --zone "$ZONE"; }

if ! tpu describe "$name" >/dev/null 2>&1; then
  tpu create "$name" --accelerator-type "${CHIPS:-v5litepod-8}" \
    --version "${RUNTIME:-v2-alpha-tpuv5-lite}"
fi
# TensorFlow for TPUs is 2.20 at the newest; the extra `tpu` pins it.
tpu ssh "$name" --command "pip install '${PACKAGE:-keras-vit-kit[tpu,data]}'"
tpu ssh "$name" --command \
  "TPU_NAME=local ~/.local/bin/keras-vit train ${*@Q} --strategy tpu --resume-if-any"
tpu scp "$name:$out" . --recurse
