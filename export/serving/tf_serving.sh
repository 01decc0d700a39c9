#!/usr/bin/env bash
# Not run: no Docker here; a test sees what docker is asked for.
# Serves a model with TF Serving, in its official image, on this machine only.
#   export/serving/tf_serving.sh MODELS/NAME
# Further words go to tensorflow_model_server. IMAGE=tensorflow/serving:2.21.0-gpu, with
# DOCKER_FLAGS="--gpus all", serves on a GPU. New versions beside the first are found by themselves.
set -euo pipefail
model=$(realpath "$1")
name=$(basename "$model")
here=$(realpath "$(dirname "$0")")
shift
# The newest version's own; TF Serving reads it once, when it starts.
version=$(find "$model" -mindepth 1 -maxdepth 1 -name '[0-9]*' -printf '%f\n' | sort -n | tail -n 1)
read -ra flags <<<"${DOCKER_FLAGS:-}"
exec docker run --rm "${flags[@]}" \
  --publish 127.0.0.1:8500:8500 --publish 127.0.0.1:8501:8501 \
  --mount "type=bind,source=$model,target=/models/$name,readonly" \
  --mount "type=bind,source=$here/monitoring.txt,target=/config/monitoring.txt,readonly" \
  --env "MODEL_NAME=$name" \
  "${IMAGE:-tensorflow/serving:2.21.0}" \
  --enable_batching=true \
  "--batching_parameters_file=/models/$name/$version/batching_parameters.txt" \
  --monitoring_config_file=/config/monitoring.txt \
  "$@"
