"""That KerasHub answers is tested in `../test_bench_against.py`, where KerasHub is."""

import ast
import inspect

import keras_vit.cli.rivals as rivals


def test_it_is_told_every_size():
    source = (inspect.getfile(rivals)).replace("__init__.py", "with_keras_hub.py")
    with open(source, encoding="utf-8") as file:
        names = {n.value for n in ast.walk(ast.parse(file.read())) if isinstance(n, ast.Constant)}
    sizes = {"image_size", "patch_size", "depth", "num_heads", "width", "mlp_dim", "num_classes"}
    assert sizes <= names
