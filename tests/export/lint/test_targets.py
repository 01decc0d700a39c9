import pytest

from keras_vit.export.lint import checks
from keras_vit.export.lint.targets import GPU, TARGETS


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_every_rule_is_a_check_with_a_source(target):
    for rule in target.rules:
        assert getattr(checks, rule.check.__name__) is rule.check
        assert rule.source
    assert target.source and (target.versions_source or not target.versions)
    assert len({rule.check for rule in target.rules}) == len(target.rules)


def test_what_the_targets_differ_in():
    assert [target.name for target in TARGETS.values() if target.contiguous] == ["edgetpu"]
    assert {target.name for target in TARGETS.values() if target.whole} == {"web", "mcu"}
    assert TARGETS["web"].operators is None
    assert "BATCH_MATMUL" in GPU and "BATCH_MATMUL" not in TARGETS["edgetpu"].operators
