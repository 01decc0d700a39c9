"""A file in an engine: `.tflite`, `.onnx` or a SavedModel. Runs without keras_vit."""


def litert(settings):
    """Returns the function to time: LiteRT on a `.tflite`."""
    from ai_edge_litert.interpreter import Interpreter

    runner = Interpreter(settings["path"], num_threads=settings["threads"])
    runner = runner.get_signature_runner()
    [(name, details)] = runner.get_input_details().items()
    pixels = drawn(details["shape"], details["dtype"])
    return lambda: runner(**{name: pixels})


def onnxruntime(settings):
    """Returns the function to time: ONNX Runtime on an `.onnx`."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = settings["threads"]
    providers = ["CPUExecutionProvider"]
    session = onnxruntime.InferenceSession(settings["path"], options, providers=providers)
    [given] = session.get_inputs()
    pixels = drawn([side if isinstance(side, int) else 1 for side in given.shape], "float32")
    return lambda: session.run(None, {given.name: pixels})


def openvino(settings):
    """Returns the function to time: OpenVINO on any of them, in float32."""
    import openvino

    hints = {
        # Without it, it may compute in bfloat16.
        "INFERENCE_PRECISION_HINT": "f32",
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_NUM_THREADS": settings["threads"],
    }
    model = openvino.convert_model(settings["path"])
    given = model.inputs[0].get_partial_shape()
    shape = [side.get_length() if side.is_static else 1 for side in given]
    kind = model.inputs[0].get_element_type().to_dtype()
    compiled, pixels = openvino.compile_model(model, "CPU", hints), drawn(shape, kind)
    return lambda: compiled(pixels)


def saved_model(settings):
    """Returns the function to time: TensorFlow on a SavedModel."""
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(settings["threads"])
    loaded = tf.saved_model.load(settings["path"])
    serve = loaded.signatures["serving_default"]
    [(name, spec)] = serve.structured_input_signature[1].items()
    shape = [side or 1 for side in spec.shape]
    pixels = tf.constant(drawn(shape, spec.dtype.as_numpy_dtype))
    # The logits alone, in numpy: what the other engines give.
    return lambda: next(iter(serve(**{name: pixels}).values())).numpy()


def drawn(shape, dtype):
    """Returns random pixels."""
    import numpy as np

    return np.random.default_rng(0).integers(0, 256, shape).astype(dtype)


CALLS = {
    "LiteRT": litert,
    "ONNX Runtime": onnxruntime,
    "OpenVINO": openvino,
    "TensorFlow": saved_model,
}
