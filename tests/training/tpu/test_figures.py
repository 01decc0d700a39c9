from types import SimpleNamespace

from keras_vit.training.tpu.figures import collectives, figures, gathers_of

HLO = """
  %r = f32[] all-reduce(%a), channel_id=1, replica_groups={{0,1}}
  %s = (f32[192]{0}, bf16[8,4]{1,0:T(8,128)(2,1)}, /*index=2*/pred[3]{0}) all-reduce(%b, %c, %d)
  ROOT %g = f32[32,3,4,8]{3,1,0,2} all-gather(%p), dimensions={2}
  %h = bf16[5,96]{1,0} all-gather(%p), dimensions={1}
  %i = u32[6]{0} collective-permute-start(%p), source_target_pairs={{0,1}}
  %j = u32[6]{0} collective-permute-done(%i)
  %fusion = f32[7]{0} fusion(%all-reduce.1), calls=%all-gather-like
"""


def test_collectives_are_counted_by_kind():
    assert collectives(HLO) == {
        "all-reduce": {"count": 2, "bytes": 4 + 4 * 192 + 2 * 32 + 3},
        "all-gather": {"count": 2, "bytes": 4 * 3072 + 2 * 480},
        "collective-permute": {"count": 1, "bytes": 24},
    }


def test_a_gathered_weight_is_found_in_any_shape():
    assert gathers_of(HLO, {32 * 96, 7}) == ["f32[32,3,4,8]{3,1,0,2}"]
    assert gathers_of(HLO, {192}) == []  # reduced, not gathered


def test_the_memory_of_a_chip():
    memory = SimpleNamespace(
        argument_size_in_bytes=100,
        output_size_in_bytes=70,
        alias_size_in_bytes=60,
        temp_size_in_bytes=1000,
        generated_code_size_in_bytes=5,
    )
    found = figures(memory, {"flops": 12.0}, "")
    assert found["hbm"] == 100 + (70 - 60) + 1000 + 5
    assert found["outputs"] == 10
    assert (found["flops"], found["collectives"]) == (12.0, {})
    assert figures(memory, [{"flops": 12.0}], "") == found
