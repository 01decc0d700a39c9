import json

from keras_vit.export.lint.verdict import Finding, Verdict

BLOCKER = Finding(5, "BATCH_MATMUL", "block_0/attention", "is not there", "a list")


def verdict(**fields):
    return Verdict(
        **{
            "target": "edgetpu",
            "operators": 8,
            "mapped": 5,
            "blockers": (BLOCKER,),
            "warnings": (),
            "peak_bytes": 100,
            "peak_block": "block_0",
            **fields,
        }
    )


def test_it_says_what_was_asked_of_whom():
    assert str(verdict()) == (
        "edgetpu: 5 of 8 operators would map (by the rules; not compiled); "
        "first blocker: block_0/attention BATCH_MATMUL is not there."
    )
    assert "and the file would not run" in str(verdict(whole=True))
    assert str(verdict(mapped=8, blockers=(), compiled=True)) == (
        "edgetpu: 8 of 8 operators would map (compiled)."
    )


def test_share_and_json():
    found = verdict()
    assert found.share == 5 / 8 and not found.passes and verdict(blockers=()).passes
    assert verdict(operators=0, mapped=0).share == 0
    told = json.loads(json.dumps(found.summary()))
    assert told["blockers"][0]["operator"] == "BATCH_MATMUL" and told["verdict"] == str(found)
