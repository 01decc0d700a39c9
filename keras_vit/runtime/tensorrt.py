"""What to do for TensorRT, which builds its engines on the machine that has the GPU."""

SUFFIXES = (".engine", ".plan", ".trt")
ROAD = (
    "A TensorRT engine fits one GPU and one release of TensorRT, so it is built there, from ONNX: "
    "`keras-vit export MODEL --profile onnx --out model.onnx`, then on that machine "
    "`trtexec --onnx=model.onnx --saveEngine=model.plan`. export/serving/TENSORRT.md has the "
    "whole road, and Triton's."
)


def refuse_engine(path):
    """Refuses a file whose name is that of a TensorRT engine.

    Raises:
        ValueError: then; the message tells the road.
    """
    if path.suffix in SUFFIXES:
        raise ValueError(f"{path} is no model that keras_vit runs. {ROAD}")
