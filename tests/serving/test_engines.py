"""The folder export/serving/: what no engine runs here is held against schemas and flags."""

import ast
import os
import re
import shlex
import subprocess
import sys
from importlib.metadata import distribution
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "export" / "serving"
# Flags that tensorflow_model_server knows (its main.cc), of those that are used.
FLAGS = {
    "port", "rest_api_port", "model_name", "model_base_path", "enable_batching",
    "batching_parameters_file", "monitoring_config_file",
}  # fmt: skip
# Stands in for docker: writes the words that it is called with.
DOCKER = '#!/usr/bin/env bash\nprintf "%s\\n" "$@" > "$SAID"\n'


def documents(name):
    import yaml

    return list(yaml.safe_load_all((FOLDER / name).read_text()))


def flags_of(words):
    return {word.removeprefix("--").partition("=")[0] for word in words}


def container_of(deployment):
    (container,) = deployment["spec"]["template"]["spec"]["containers"]
    return container


def test_docker_is_asked_for_the_newest_version(tmp_path):
    """Its container sees the model and the files that its flags name."""
    for version in ("1", "9", "10", ".unfinished"):
        (tmp_path / "models/it" / version).mkdir(parents=True)
        (tmp_path / "models/it" / version / "batching_parameters.txt").touch()
    (tmp_path / "docker").write_text(DOCKER)
    (tmp_path / "docker").chmod(0o755)
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    said = tmp_path / "said"
    environment = os.environ | {"PATH": path, "SAID": str(said), "DOCKER_FLAGS": "--gpus all"}
    command = [FOLDER / "tf_serving.sh", tmp_path / "models/it", "--rest_api_timeout_in_ms=9"]
    subprocess.run(command, env=environment, check=True)
    words = said.read_text().splitlines()
    assert words[:4] == ["run", "--rm", "--gpus", "all"]
    at = next(place for place, word in enumerate(words) if word.startswith("tensorflow/serving:"))
    flags = words[at + 1 :]
    assert flags[-1] == "--rest_api_timeout_in_ms=9"
    assert flags_of(flags[:-1]) <= FLAGS
    assert "--batching_parameters_file=/models/it/10/batching_parameters.txt" in flags
    mounts = dict(re.findall(r"source=(.+),target=(.+),readonly", "\n".join(words)))
    assert mounts[str(tmp_path / "models/it")] == "/models/it"
    assert mounts[str(FOLDER / "monitoring.txt")] == "/config/monitoring.txt"
    # Nothing but this machine reaches the ports.
    published = [words[place + 1] for place, word in enumerate(words) if word == "--publish"]
    assert published == ["127.0.0.1:8500:8500", "127.0.0.1:8501:8501"]


@pytest.mark.prove
def test_every_road_has_the_same_image_and_known_flags():
    script, dockerfile = (FOLDER / name for name in ("tf_serving.sh", "Dockerfile"))
    container = container_of(documents("kubernetes.yaml")[1])
    kserve = documents("kserve.yaml")[0]["spec"]["predictor"]["model"]
    image = container["image"]
    assert f":-{image}}}" in script.read_text()
    assert f"FROM {image}\n" in dockerfile.read_text()
    assert image == f"tensorflow/serving:{kserve['runtimeVersion']}"
    command = dockerfile.read_text().partition("CMD ")[2].replace("\\\n", "")
    for words in (ast.literal_eval(command), container["args"], kserve["args"]):
        assert flags_of(words) <= FLAGS
        assert {"enable_batching", "batching_parameters_file"} <= flags_of(words)


@pytest.mark.prove
def test_the_manifest_fits_together():
    service, deployment, scaler, budget = documents("kubernetes.yaml")
    container, pod = container_of(deployment), deployment["spec"]["template"]
    flags = dict(word.removeprefix("--").split("=") for word in container["args"])
    labels = pod["metadata"]["labels"]
    selectors = [service["spec"]["selector"]]
    selectors += [one["spec"]["selector"]["matchLabels"] for one in (deployment, budget)]
    assert selectors == [labels] * 3
    assert scaler["spec"]["scaleTargetRef"] == {
        "apiVersion": deployment["apiVersion"],
        "kind": "Deployment",
        "name": deployment["metadata"]["name"],
    }
    ports = [int(flags["port"]), int(flags["rest_api_port"])]
    assert [port["containerPort"] for port in container["ports"]] == ports
    assert [port["port"] for port in service["spec"]["ports"]] == ports
    for probe in ("startupProbe", "readinessProbe"):
        asked = container[probe]["httpGet"]
        assert asked == {"path": f"/v1/models/{flags['model_name']}", "port": ports[1]}
    # Every file that a flag names lies in a mounted volume, and every volume is there.
    mounts = {mount["mountPath"]: mount["name"] for mount in container["volumeMounts"]}
    for flag in ("model_base_path", "batching_parameters_file", "monitoring_config_file"):
        assert any(flags[flag].startswith(f"{path}/") for path in mounts)
    assert {volume["name"] for volume in pod["spec"]["volumes"]} == set(mounts.values())
    # The autoscaler takes shares of what is asked for.
    assert container["resources"]["requests"].keys() == container["resources"]["limits"].keys()


@pytest.mark.prove
def test_the_monitoring_has_the_address_that_the_manifest_tells():
    """There is no class for the message on PyPI: the text has the two fields that it needs."""
    text = (FOLDER / "monitoring.txt").read_text()
    (path,) = re.fullmatch(r'prometheus_config { enable: true path: "(.+)" }\n', text).groups()
    annotations = documents("kubernetes.yaml")[1]["spec"]["template"]["metadata"]["annotations"]
    assert annotations["prometheus.io/path"] == path


def test_what_is_not_run_says_so():
    names = ("Dockerfile", "kserve.yaml", "kubernetes.yaml", "tf_serving.sh")
    not_run = {path.name for path in FOLDER.iterdir() if "# Not run:" in path.read_text()[:200]}
    assert not_run == set(names)
    assert all(name in (FOLDER / "README.md").read_text() for name in names)


def test_the_readme_names_files_that_are_there():
    text = (FOLDER / "README.md").read_text()
    named = set(re.findall(r"export/serving/([\w.]+)", text))
    assert named and all((FOLDER / name).exists() for name in named)
    # The commands can be read by a shell.
    for block in re.findall(r"```bash\n(.+?)```", text, re.DOTALL):
        shlex.split(block, comments=True)


@pytest.mark.prove
def test_the_script_is_sound():
    shellcheck = Path(sys.executable).parent / "shellcheck"
    subprocess.run([shellcheck, FOLDER / "tf_serving.sh"], check=True)


@pytest.mark.prove
def test_the_manifests_keep_to_their_schemas():
    import kubernetes_validate

    version = kubernetes_validate.latest_version()
    found = documents("kubernetes.yaml")
    for document in found:
        kubernetes_validate.validate(document, version, strict=True)
    container_of(found[1])["readynessProbe"] = {}  # a slip of the pen
    with pytest.raises(kubernetes_validate.ValidationError, match="readynessProbe"):
        kubernetes_validate.validate(found[1], version, strict=True)


@pytest.mark.prove
def test_kserve_keeps_to_its_classes():
    """KServe's are walked field by field; what is Kubernetes' own has the schemas of that."""
    import kubernetes_validate

    (service,) = documents("kserve.yaml")
    assert service["apiVersion"] == "serving.kserve.io/v1beta1"
    theirs = check_fields(service, "V1beta1InferenceService")
    assert {kind for kind, _ in theirs} == {"V1ObjectMeta", "V1ResourceRequirements"}
    container = {"name": "it", "image": "it", "resources": dict(theirs)["V1ResourceRequirements"]}
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": dict(theirs)["V1ObjectMeta"],
        "spec": {"containers": [container]},
    }
    kubernetes_validate.validate(pod, kubernetes_validate.latest_version(), strict=True)
    service["spec"]["predictor"]["model"]["storageUrl"] = "pvc://models/vit"  # a slip of the pen
    with pytest.raises(AssertionError, match="storageUrl"):
        check_fields(service, "V1beta1InferenceService")


def check_fields(value, kind):
    """Checks a value against a type of KServe's package; returns those that are Kubernetes'."""
    if inner := re.fullmatch(r"list\[(.+)\]", kind):
        assert isinstance(value, list), value
        return [found for one in value for found in check_fields(one, inner[1])]
    plain = {"str": str, "int": int, "bool": bool}
    if kind in plain:
        assert type(value) is plain[kind], value
        return []
    if not kind.startswith("V1beta1"):
        return [(kind, value)]
    types, names = kserve_class(kind)
    fields = {names[attribute]: types[attribute] for attribute in types}
    assert value.keys() <= fields.keys(), f"{kind} has no {value.keys() - fields.keys()}"
    return [found for key in value for found in check_fields(value[key], fields[key])]


def kserve_class(kind):
    """The types and the names of a class's fields, read, not imported: KServe's Python package
    wants an older protobuf than TensorFlow does."""
    stem = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", kind).lower()
    path = distribution("kserve").locate_file(f"kserve/models/{stem}.py")
    (model,) = [node for node in ast.parse(path.read_text()).body if isinstance(node, ast.ClassDef)]
    assigned = {
        node.targets[0].id: node.value for node in model.body if isinstance(node, ast.Assign)
    }
    return [ast.literal_eval(assigned[name]) for name in ("openapi_types", "attribute_map")]
