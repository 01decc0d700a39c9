import pytest

from keras_vit.training.tpu.lint import lint

CLEAN = """
module @step attributes {mhlo.is_dynamic = false} {
  func.func public @main(%arg0: tensor<8x4xbf16>, %arg1: tensor<2xui64>) -> tensor<8x4xf32> {
    %0 = stablehlo.dynamic_slice %arg0, %c, %c, sizes = [1, 4] : (tensor<8x4xbf16>) -> tensor<1x4xbf16>
    %1 = stablehlo.dynamic_update_slice %arg0, %0, %c, %c : tensor<8x4xbf16>
    %2 = stablehlo.custom_call @Sharding(%1) : (tensor<8x4xbf16>) -> tensor<8x4xbf16>
    %3 = stablehlo.convert %2 : (tensor<8x4xbf16>) -> tensor<8x4xf32>
    return %3 : tensor<8x4xf32> loc("vit/send_f64")
"""  # noqa: E501


def test_a_clean_program():
    assert lint(CLEAN) == []


@pytest.mark.parametrize(
    ("planted", "kind"),
    [
        ("%9 = stablehlo.add %8, %8 : tensor<?x4xf32>", "dynamic dimension"),
        ("%9 = stablehlo.abs %8 : tensor<4x?xi32, #stablehlo.bounds<4, 8>>", "dynamic dimension"),
        ("%9 = stablehlo.dynamic_reshape %8, %7 : tensor<8xf32>", "dynamic operation"),
        ("%9 = stablehlo.dynamic_gather %8, %7 : tensor<8xf32>", "dynamic operation"),
        ('%9 = "stablehlo.infeed"(%8) : tensor<4xf32>', "host call"),
        ("%9 = stablehlo.outfeed %8 : tensor<4xf32>", "host call"),
        ('%9 = "stablehlo.send"(%8, %7) : tensor<4xf32>', "host call"),
        ("%9 = stablehlo.custom_call @xla_python_cpu_callback(%8)", "custom call"),
        ('%9 = "stablehlo.custom_call"(%8) {call_target_name = "lapack"}', "custom call"),
        ("%9 = stablehlo.convert %8 : (tensor<4xf32>) -> tensor<4xf64>", "float64"),
        ("%9 = stablehlo.constant dense<1.0> : tensor<f64>", "float64"),
    ],
)
def test_what_is_planted_is_found(planted, kind):
    (found,) = lint(CLEAN + planted)
    assert found == f"{kind}: {planted}"
