from keras_vit.cli.recorded_npu import npu_table

TIMES = {"ethos-u55": 30.0, "ethos-u65": 20.25, "ethos-u85": 4.0}


def compiled(share, blockers):
    return {
        target: {"operators": 77, "share": share, "blockers": blockers, "milliseconds": time}
        for target, time in TIMES.items()
    }


def test_a_row_for_each_model():
    models = {"vit_ti16": compiled(1.0, {}), "swin_t": compiled(0.976, {"MEAN": 5})}
    head, _, *rows = npu_table({"models": models}).strip().splitlines()
    assert head.startswith("| int8 file | operators | on the NPU")
    assert rows[0] == "| vit_ti16 | 77 | 100.0 % | nothing | 30.0 | 20.2 | 4.0 |"
    assert "97.6 % | 5 MEAN |" in rows[1]
