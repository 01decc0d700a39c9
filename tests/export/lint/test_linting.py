"""Verdicts on files that this package exports."""

import dataclasses
import json

import pytest

from keras_vit.export.lint import TARGETS, lint
from keras_vit.export.lint.graph import read_graph
from keras_vit.export.lint.linting import _findings, _mapped
from keras_vit.export.lint.targets import Target


def test_the_edge_tpu_refuses_a_file_with_gelu(artefacts):
    verdict = lint(artefacts["npu"], "edgetpu")
    assert verdict.mapped == 0 and not verdict.compiled
    first = verdict.blockers[0]
    assert (first.operator, first.block) == ("GELU", "block_0/mlp") and first.refuses
    assert str(verdict).startswith("edgetpu: 0 of 92 operators would map (by the rules; not ")


def test_the_edge_tpu_takes_one_segment(artefacts):
    """Without GELU the file can be read, and all before the first matrix product maps."""
    verdict = lint(artefacts["mcu"], "edgetpu")
    first = verdict.blockers[0]
    assert not first.refuses
    assert verdict.mapped == first.position > 0
    names = [operator.name for operator in read_graph(artefacts["mcu"]).operators]
    assert first.operator == names[first.position]
    assert "BATCH_MATMUL" in {finding.operator for finding in verdict.blockers}


def test_a_gpu_takes_the_float_files(artefacts):
    for name in ("float32", "gpu", "cpu"):
        verdict = lint(artefacts[name], "gpu")
        assert verdict.passes and verdict.share == 1
        assert {one.operator for one in verdict.warnings} <= {"BATCH_MATMUL"}


def test_a_browser_cannot_pass_int8(artefacts):
    assert lint(artefacts["cpu"], "web").passes
    (blocker,) = lint(artefacts["npu"], "web").blockers
    assert (blocker.operator, blocker.position) == ("OUTPUT", -1)
    assert "is INT8" in blocker.reason


def test_a_microcontroller_has_no_gelu(artefacts):
    assert lint(artefacts["mcu"], "mcu").passes
    verdict = lint(artefacts["npu"], "mcu")
    assert {one.operator for one in verdict.blockers} == {"GELU"}
    assert verdict.mapped == verdict.operators - 2 and "would not run" in str(verdict)
    assert lint(artefacts["float32"], "mcu").warnings


def test_a_version_above_the_limit_refuses_the_file(artefacts):
    graph = read_graph(artefacts["mcu"])
    old = dataclasses.replace(TARGETS["mcu"], versions={"FULLY_CONNECTED": 1})
    blockers, _ = _findings(graph, old)
    assert "above 1" in blockers[0].reason and blockers[0].refuses
    assert _mapped(len(graph.operators), old, blockers) == 0


def test_int8_activations_take_a_quarter_of_the_memory(artefacts):
    whole, quarter = (lint(artefacts[name], "gpu").peak_bytes for name in ("float32", "mcu"))
    assert whole > 2.5 * quarter


def test_json(artefacts):
    found = json.loads(json.dumps(lint(artefacts["npu"], "mcu").summary()))
    assert found["share"] == pytest.approx(90 / 92) and found["blockers"][0]["source"]


def test_an_unknown_target_lists_the_names(artefacts):
    with pytest.raises(ValueError, match="edgetpu, gpu.*Did you mean 'ethos-u85'"):
        lint(artefacts["npu"], "ethos-u86")


def test_every_rule_has_a_source():
    for target in TARGETS.values():
        assert isinstance(target, Target) and target.source
        assert all(rule.source for rule in target.rules)
