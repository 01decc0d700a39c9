#!/usr/bin/env bash
# Not run: no TPU was at hand. `keras-vit tpu-check` compiles the training step for a slice.
# A slice of a TPU pod, several hosts: makes it, installs on all hosts, and trains.
#   ZONE=us-west4-a training/launch/tpu_pod.sh NAME RECIPE tfds:DATA --out RUN
# TensorFlow runs on the first host, and drives the chips of the others through the TPU runtime of
# their image, which has to be of the same release.
# It is paid for until: gcloud compute tpus tpu-vm delete NAME --zone ZONE
set -euo pipefail

name=$1
shift
tpu() { gcloud compute tpus tpu-vm "$1" "${@:2}" --zone "$ZONE"; }

if ! tpu describe "$name" >/dev/null 2>&1; then
  tpu create "$name" --accelerator-type "${CHIPS:-v5litepod-16}" \
    --version "${RUNTIME:-tpu-vm-tf-2.18.0-pod-pjrt}"
fi
tpu ssh "$name" --worker=all --command "pip install '${PACKAGE:-keras-vit-kit[tpu,data]}'"
tpu ssh "$name" --worker=0 --command \
  "TPU_NAME=$name TPU_LOAD_LIBRARY=0 ~/.local/bin/keras-vit train ${*@Q} \
--strategy tpu --resume-if-any"
