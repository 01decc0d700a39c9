"""Graphs as PyTorch's exporter writes them, of a DINOv2 small enough to look at."""

import json
import sys

import numpy as np
import pytest
from safetensors.numpy import load_file

from keras_vit.models import DINOv2, ViTConfig
from keras_vit.weights import load
from keras_vit.weights.onnx_dinov2 import write_dinov2

WIDTH, MLP, PATCH, GRID, DEPTH = 64, 128, 2, 3, 2
LAYER = "encoder.layer.{}."
# In the order in which transformers computes them: counting would take the key for the query.
LINEARS = {
    "attention.attention.key": (WIDTH, WIDTH),
    "attention.attention.value": (WIDTH, WIDTH),
    "attention.attention.query": (WIDTH, WIDTH),
    "attention.output.dense": (WIDTH, WIDTH),
    "mlp.fc1": (MLP, WIDTH),
    "mlp.fc2": (WIDTH, MLP),
}
VECTORS = ("norm1.weight", "norm1.bias", "norm2.weight", "norm2.bias")
SCALES = ("layer_scale1.lambda1", "layer_scale2.lambda1")


def state():
    """The weights as transformers names and lays them out."""
    generator = np.random.default_rng(5)
    shapes = {
        "embeddings.cls_token": (1, 1, WIDTH),
        "embeddings.position_embeddings": (1, 1 + GRID**2, WIDTH),
        "embeddings.patch_embeddings.projection.weight": (WIDTH, 3, PATCH, PATCH),
        "embeddings.patch_embeddings.projection.bias": (WIDTH,),
        "layernorm.weight": (WIDTH,),
        "layernorm.bias": (WIDTH,),
    }
    for index in range(DEPTH):
        layer = LAYER.format(index)
        for name, shape in LINEARS.items():
            shapes |= {f"{layer}{name}.weight": shape, f"{layer}{name}.bias": shape[:1]}
        shapes |= {f"{layer}{name}": (WIDTH,) for name in VECTORS + SCALES}
    return {name: generator.normal(size=s).astype("float32") for name, s in shapes.items()}


def write_graph(path, weights, prefix="backbone.", positions=True):
    """Writes what an exported graph tells of the weights; it computes nothing whole."""
    import onnx

    helper, node = onnx.helper, onnx.helper.make_node
    place = "/" + prefix.replace(".", "/")
    kept, nodes, count = {}, [], 100
    for name, array in weights.items():
        owner, _, kind = name.rpartition(".")
        if kind == "weight" and owner.startswith("encoder") and array.ndim == 2:
            matrix, product = f"onnx::MatMul_{count}", f"product_{count}"
            kept[matrix] = array.T
            nodes.append(node("MatMul", ["x", matrix], [product], name=f"any_{count}"))
            operands = [f"{prefix}{owner}.bias", product]
            # Exporters put the bias first or second.
            nodes.append(node("Add", operands[:: 1 if count % 2 else -1], [f"sum_{count}"]))
            count += 3
        elif name == "embeddings.position_embeddings":
            kept |= {"onnx::Concat_7": array[:, :1], "onnx::Reshape_9": array[:, 1:]}
        else:
            kept[prefix + name] = array
    if positions:
        at = f"{place}embeddings/"
        nodes.append(node("Reshape", ["onnx::Reshape_9", "s"], ["grid"], name=f"{at}Reshape_1"))
        nodes.append(node("Concat", ["onnx::Concat_7", "grid"], ["p"], name=f"{at}Concat_6"))
    last = [f"{prefix}layernorm.{kind}" for kind in ("weight", "bias")]
    nodes.append(node("Mul", ["x", last[0]], ["scaled"]))
    nodes.append(node("Add", ["scaled", last[1]], ["tokens"]))
    kept["decoder.weight"] = np.zeros((2, 2), "float32")
    initialisers = [
        onnx.numpy_helper.from_array(np.ascontiguousarray(a), n) for n, a in kept.items()
    ]
    onnx.save(helper.make_model(helper.make_graph(nodes, "graph", [], [], initialisers)), path)


def test_without_onnx_the_extra_is_named(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(ImportError, match=r"pip install 'keras-vit-kit\[onnx\]'"):
        write_dinov2(tmp_path / "model.onnx", tmp_path / "weights")


@pytest.mark.prove
@pytest.mark.parametrize("prefix", ["backbone.", ""])
def test_each_array_is_written_under_its_name(tmp_path, prefix):
    expected = state()
    write_graph(tmp_path / "model.onnx", expected, prefix)
    output = write_dinov2(tmp_path / "model.onnx", tmp_path / "weights")
    found = load_file(tmp_path / "weights" / "model.safetensors")
    assert output == "tokens"
    assert found.keys() == expected.keys()
    for name, array in expected.items():
        np.testing.assert_array_equal(found[name], array, err_msg=name)


@pytest.mark.prove
def test_the_folder_is_a_checkpoint_of_transformers(tmp_path):
    expected = state()
    write_graph(tmp_path / "model.onnx", expected)
    write_dinov2(tmp_path / "model.onnx", tmp_path / "weights")
    config = json.loads((tmp_path / "weights" / "config.json").read_text("utf-8"))
    assert (config["model_type"], config["image_size"], config["num_hidden_layers"]) == (
        "dinov2",
        PATCH * GRID,
        DEPTH,
    )
    model = DINOv2(
        ViTConfig(
            image_size=PATCH * GRID,
            patch_size=PATCH,
            width=WIDTH,
            depth=DEPTH,
            num_heads=1,
            mlp_dim=MLP,
            num_classes=0,
            layer_scale=1e-5,
        )
    )
    report = load(model, tmp_path / "weights", accept=("preprocessing",))
    assert report.source == "hf_dinov2" and not report.unused
    query = model.get_layer("block_1").attention.qkv.kernel[:, 0]
    theirs = expected["encoder.layer.1.attention.attention.query.weight"]
    np.testing.assert_array_equal(np.reshape(query, (WIDTH, WIDTH)), theirs.T)


@pytest.mark.prove
@pytest.mark.parametrize(
    "lost, message",
    [
        ("embeddings.cls_token", "none of its arrays is called embeddings.cls_token"),
        ("encoder.layer.0.mlp.fc1.weight", "it lacks encoder.layer.0.mlp.fc1.weight"),
    ],
)
def test_another_graph_is_refused(tmp_path, lost, message):
    weights = {name: array for name, array in state().items() if name != lost}
    write_graph(tmp_path / "model.onnx", weights)
    with pytest.raises(ValueError, match=message):
        write_dinov2(tmp_path / "model.onnx", tmp_path / "weights")
    assert not (tmp_path / "weights").exists()


@pytest.mark.prove
def test_a_graph_without_positions_is_refused(tmp_path):
    write_graph(tmp_path / "model.onnx", state(), positions=False)
    with pytest.raises(ValueError, match="adds no position table to the tokens"):
        write_dinov2(tmp_path / "model.onnx", tmp_path / "weights")
