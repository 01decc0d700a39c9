"""The devices that a file is checked for, and their rules with their sources."""

import dataclasses

from keras_vit.export.lint import checks
from keras_vit.export.profiles import EDGE_TPU, MICRO

CORAL = "coral.ai, Edge TPU model requirements; compiler 16.0 of June 2021"
CORAL_PARSER = "reports at google-coral/edgetpu: files that compiler 16 cannot parse"
TFLITE_GPU = "tensorflow/lite/tools/versioning/gpu_compatibility.cc of TensorFlow 2.21"
LITERT_ISSUES = "google-ai-edge/LiteRT issues 8619 and 8913"
LITERT_JS = "@litertjs/core 2.5.3, measured in Chromium"
TFLM = "tflite-micro, micro_mutable_op_resolver.h"


@dataclasses.dataclass(frozen=True)
class Rule:
    """What an operator must not be.

    Args:
        check: function of `checks`.
        source: where the rule is written, or how it was found.
        warns: whether it only warns: the operator runs there.
    """

    check: object
    source: str
    warns: bool = False


@dataclasses.dataclass(frozen=True)
class Target:
    """A kind of device.

    Args:
        name: its name in `TARGETS`.
        summary: one line for people.
        operators: names of the operators that it has; None for all of TFLite's.
        source: where that list is written.
        rules: tuple of `Rule`s.
        versions: highest version that its parser knows, by operator. A newer one, or an operator
            in `unknown`, makes it refuse the whole file.
        unknown: names of operators that its parser does not know.
        versions_source: where those are written.
        contiguous: whether only what stands before the first blocker runs on it.
        interface: types that the model's inputs and outputs may have; None for any.
        whole: whether a blocker means that the file does not run at all.
    """

    name: str
    summary: str
    operators: frozenset | None
    source: str
    rules: tuple
    versions: dict = dataclasses.field(default_factory=dict)
    unknown: frozenset = frozenset()
    versions_source: str = ""
    contiguous: bool = False
    interface: frozenset | None = None
    whole: bool = False


GPU = frozenset(
    "ABS ADD ADD_N ATAN2 AVERAGE_POOL_2D BATCH_MATMUL CAST CEIL CONCATENATION CONV_2D COS CUMSUM "
    "DENSIFY DEPTHWISE_CONV_2D DEPTH_TO_SPACE DEQUANTIZE DIV DYNAMIC_UPDATE_SLICE ELU "
    "EMBEDDING_LOOKUP EQUAL EXP FLOOR FLOOR_DIV FLOOR_MOD FULLY_CONNECTED GATHER GELU GREATER "
    "GREATER_EQUAL HARD_SWISH LEAKY_RELU LESS LESS_EQUAL LOG LOGICAL_AND LOGISTIC LSTM MAXIMUM "
    "MAX_POOL_2D MEAN MINIMUM MIRROR_PAD MUL NEG NOT_EQUAL ONE_HOT PACK PAD PADV2 POW PRELU "
    "QUANTIZE REDUCE_MAX REDUCE_MIN REDUCE_PROD RELU RELU6 RELU_N1_TO_1 RESHAPE RESIZE_BILINEAR "
    "RESIZE_NEAREST_NEIGHBOR RSQRT SELECT SELECT_V2 SIGN SIN SLICE SOFTMAX SPACE_TO_DEPTH SPLIT "
    "SPLIT_V SQRT SQUARE SQUARED_DIFFERENCE STRIDED_SLICE SUB SUM TANH TILE TRANSPOSE "
    "TRANSPOSE_CONV".split()
)
_ALL = (
    Target(
        "edgetpu", "Coral Edge TPU, first generation", EDGE_TPU, CORAL,
        (
            Rule(checks.open_shape, CORAL),
            Rule(checks.no_8_bits, CORAL),
            Rule(checks.four_sides, CORAL),
            Rule(checks.product_of_rows, CORAL),
            Rule(checks.mean_over_batch, CORAL),
            Rule(checks.joined_constant, CORAL),
            Rule(checks.long_softmax, CORAL),
        ),
        versions={
            "CONV_2D": 5, "EXP": 1, "QUANTIZE": 2, "RSQRT": 2, "TRANSPOSE": 5, "TRANSPOSE_CONV": 3
        },
        unknown=frozenset({"GELU"}),
        versions_source=CORAL_PARSER,
        contiguous=True,
    ),
    Target(
        "gpu", "phones' GPUs, by LiteRT", GPU, TFLITE_GPU,
        (
            Rule(checks.open_shape, TFLITE_GPU),
            Rule(checks.custom, TFLITE_GPU),
            Rule(checks.five_sides, TFLITE_GPU),
            Rule(checks.slice_of_rank, TFLITE_GPU),
            Rule(checks.outer_product, TFLITE_GPU),
            Rule(checks.padding_rank, TFLITE_GPU),
            Rule(checks.cast_of_integers, TFLITE_GPU),
            Rule(checks.transposed_product, LITERT_ISSUES, warns=True),
            Rule(checks.product_of_rank_3, LITERT_ISSUES, warns=True),
        ),
    ),
    Target(
        "web", "browsers, by LiteRT.js on WebAssembly", None, LITERT_JS,
        (Rule(checks.open_shape, LITERT_JS), Rule(checks.custom, LITERT_JS)),
        interface=frozenset({"FLOAT32", "INT32", "UINT8"}), whole=True,
    ),
    Target(
        "mcu", "microcontrollers, by tflite-micro", MICRO, TFLM,
        (
            Rule(checks.open_shape, TFLM),
            Rule(checks.custom, TFLM),
            Rule(checks.floats, "an MCU without a float unit", warns=True),
        ),
        whole=True,
    ),
)  # fmt: skip
TARGETS = {target.name: target for target in _ALL}
