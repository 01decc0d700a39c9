"""What an artefact is for: one small object each, and the dict to choose from."""

import dataclasses

from keras_vit.export.agreement import Bound
from keras_vit.layers.choices import check_choice

CONVERTER, QUANTIZER = "converter", "litert-quantizer"

# Fewer operators for all. For integers, products instead of squares, a range for each of queries,
# keys and values, and channels of one size.
LEAN = ("fold_layer_scale", "fold_norms", "centre", "fold_query_scale")
INTEGER = (*LEAN, "separate_projections", "self_products", "scale_streams", "centre_heads")

# What tflite-micro has kernels for, of that which our models are made of: no GELU is among them.
MICRO = frozenset(
    "ADD AVERAGE_POOL_2D BATCH_MATMUL CONCATENATION CONV_2D DEPTHWISE_CONV_2D DEQUANTIZE DIV EXP "
    "EXPAND_DIMS FULLY_CONNECTED L2_NORMALIZATION LOGISTIC MAXIMUM MAX_POOL_2D MEAN MINIMUM MUL "
    "PACK PAD QUANTIZE RELU RESHAPE RSQRT SLICE SOFTMAX SPLIT SPLIT_V SQUARED_DIFFERENCE SQUEEZE "
    "STRIDED_SLICE SUB SUM TANH TRANSPOSE".split()
)
# What the compiler for the Edge TPU maps, of that which our models are made of. The products of
# attention, BATCH_MATMUL, are not among it.
EDGE_TPU = MICRO - {"BATCH_MATMUL", "DEQUANTIZE", "DIV", "EXP"}


@dataclasses.dataclass(frozen=True)
class Profile:
    """A kind of artefact.

    Args:
        name: its name in `PROFILES`.
        format: key of `exporter.FORMATS`: what is written.
        quantiser: `"converter"` (TensorFlow's, while it converts), `"litert-quantizer"` (on the
            finished file), or None for what stays in floats.
        precision: key of `converter.PRECISIONS`; `"float32"` for other formats.
        bound: how near to the Keras model it must be to be accepted.
        summary: one line for people.
        calibrated: whether ranges are measured on calibration images.
        measure: key of `converter.MEASURES`: how ranges are taken, by litert-quantizer.
        integer: whether it must hold integers only.
        static: whether every shape must be fixed.
        passes: names in `rewrite.PASSES`, which give GELU, norm and attention their forms.
        allowed: names of the operators that it may hold; None for all of TFLite's.
        device: key of `lint.targets.TARGETS`, of the device that must take all of it; or None.
        attention: whether a `.tflite` in floats gives `attention`, `[1, rows, columns]`, too.
    """

    name: str
    format: str
    quantiser: str | None
    precision: str
    bound: Bound
    summary: str
    calibrated: bool = False
    measure: str = "min_max"
    integer: bool = False
    static: bool = True
    passes: tuple = LEAN
    allowed: frozenset | None = None
    device: str | None = None
    attention: bool = False

    @property
    def ending(self):
        """How the artefact's path ends; empty for a folder."""
        return "" if self.format == "saved_model" else f".{self.format}"


# The bounds of float32 are those of rounding. The others are there to refuse a broken file, not
# a worse one, and 32 images count a few near-ties too many or too few: a naive full int8 DINOv2-S
# with 15 points less accuracy still has a cosine of 0.865 and the same top class on 73 %.
ROUNDING = Bound(relative=1e-4)
WEIGHTS = Bound(cosine=0.98, top1=0.9)
INTEGERS = Bound(cosine=0.85, top1=0.75)
_ALL = (
    Profile(
        "cpu", "tflite", CONVERTER, "dynamic_int8", WEIGHTS,
        "TFLite with int8 weights: a quarter of the size, the fastest on CPUs",
    ),
    Profile(
        "mobile", "tflite", QUANTIZER, "products_int8", Bound(cosine=0.95, top1=0.85),
        "TFLite with int8 products of calibrated ranges, the rest in float32: phones",
        calibrated=True,
    ),
    Profile(
        "gpu", "tflite", CONVERTER, "float16", Bound(relative=0.01),
        "TFLite with float16 weights: phones' GPUs and WebGPU",
    ),
    Profile(
        "web", "tflite", CONVERTER, "dynamic_int8", WEIGHTS,
        "TFLite with int8 weights and fixed shapes: browsers, by LiteRT.js",
    ),
    Profile(
        "npu", "tflite", CONVERTER, "full_int8", INTEGERS,
        "TFLite in integers throughout, uint8 pixels in: NPUs",
        calibrated=True, integer=True, passes=INTEGER,
    ),
    Profile(
        "npu-16x8", "tflite", CONVERTER, "int16x8", WEIGHTS,
        "TFLite with int16 activations and int8 weights: NPUs that have them",
        calibrated=True, integer=True, passes=INTEGER,
    ),
    Profile(
        "edgetpu", "tflite", CONVERTER, "full_int8", INTEGERS,
        "TFLite that the Edge TPU maps as a whole; what it would not map is reported",
        calibrated=True, integer=True, passes=(*INTEGER, "gelus_of_products"), allowed=EDGE_TPU,
        device="edgetpu",
    ),
    Profile(
        "mcu", "tflite", CONVERTER, "full_int8", INTEGERS,
        "TFLite in integers with the operators of microcontrollers only",
        calibrated=True, integer=True, passes=(*INTEGER, "gelus_of_products"), allowed=MICRO,
        device="mcu",
    ),
    Profile(
        "server", "saved_model", None, "float32", ROUNDING,
        "SavedModel for TensorFlow Serving: arrays or encoded pictures, any batch",
        static=False,
    ),
    Profile(
        "onnx", "onnx", None, "float32", ROUNDING,
        "ONNX for ONNX Runtime, OpenVINO and TensorRT, any batch",
        static=False,
    ),
    Profile(
        "float32", "tflite", None, "float32", ROUNDING,
        "TFLite in float32, the one to compare others with",
    ),
)  # fmt: skip
PROFILES = {profile.name: profile for profile in _ALL}


def profile_named(profile):
    """Returns the `Profile` of a name; a `Profile` as it is.

    Raises:
        ValueError: for an unknown name; the error lists the names.

    Example:

    >>> profile_named("npu").integer
    True
    """
    if isinstance(profile, Profile):
        return profile
    check_choice("profile", profile, PROFILES)
    return PROFILES[profile]
