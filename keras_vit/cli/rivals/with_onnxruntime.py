"""timm's ViT as an ONNX file in ONNX Runtime, also with its own dynamic quantisation."""


def written(settings, folder):
    """Writes the model and returns the file's path."""
    import torch
    import with_timm  # a file beside this one: see `loop`

    model = with_timm.network(settings).eval()
    size, path = settings["image_size"], f"{folder}/model.onnx"
    images = torch.zeros(settings["batch_size"], 3, size, size)
    torch.onnx.export(model, (images,), path, dynamo=False, opset_version=17)
    return path


def channels_first(images):
    """Returns `[b, h, w, c]` as `[b, c, h, w]`, stored in that order."""
    return images.transpose(0, 3, 1, 2).copy()


def runner(settings, quantised):
    """Returns the function to time."""
    import tempfile

    import onnxruntime
    import with_keras_vit

    with tempfile.TemporaryDirectory() as folder:
        path = written(settings, folder)
        if quantised:
            from onnxruntime.quantization import QuantType, quantize_dynamic

            quantize_dynamic(path, path, weight_type=QuantType.QInt8)
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    images = {session.get_inputs()[0].name: channels_first(with_keras_vit.drawn(settings)[0])}
    return lambda: session.run(None, images)


CALLS = {
    "float32": lambda settings: runner(settings, quantised=False),
    "dynamic int8": lambda settings: runner(settings, quantised=True),
}
