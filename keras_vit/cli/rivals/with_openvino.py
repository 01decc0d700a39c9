"""timm's ViT as an ONNX file in OpenVINO."""


def float32(settings):
    """Returns the function to time."""
    import tempfile

    import openvino
    import with_keras_vit  # files beside this one: see `loop`
    import with_onnxruntime

    with tempfile.TemporaryDirectory() as folder:
        model = openvino.Core().read_model(with_onnxruntime.written(settings, folder))
        # Without the hint it may compute in bfloat16.
        hints = {"INFERENCE_PRECISION_HINT": "f32", "PERFORMANCE_HINT": "LATENCY"}
        compiled = openvino.compile_model(model, "CPU", hints)
    images = with_onnxruntime.channels_first(with_keras_vit.drawn(settings)[0])
    return lambda: compiled(images)


CALLS = {"float32": float32}
