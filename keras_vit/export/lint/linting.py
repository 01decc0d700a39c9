"""Whether a device would take a `.tflite` file, by that device's own rules."""

from keras_vit.export.lint import vela
from keras_vit.export.lint.graph import read_graph
from keras_vit.export.lint.memory import peak_activations
from keras_vit.export.lint.targets import TARGETS
from keras_vit.export.lint.verdict import Finding, Verdict
from keras_vit.hints import did_you_mean


def lint(path, target):
    """Checks a file for a device.

    For Ethos-U, Arm's compiler is asked. For the others nothing is compiled: the rules of
    `targets` are applied to each operator, and a file that passes them may still fail.

    Args:
        path: a `.tflite` file of any origin.
        target: `"edgetpu"`, `"gpu"`, `"web"`, `"mcu"`, or one of `vela.ACCELERATORS`, such as
            `"ethos-u85"`.

    Returns:
        A `Verdict`.

    Raises:
        ValueError: for an unknown target, or a file that is no TFLite file.
        ImportError: if `ai_edge_litert` is not installed.
        FileNotFoundError: for Ethos-U, if Vela is not installed.
    """
    names = [*TARGETS, *vela.ACCELERATORS]
    if target not in names:
        raise ValueError(
            f"`target` must be one of {', '.join(names)}. Received: {target!r}."
            f"{did_you_mean(target, names)}"
        )
    graph = read_graph(path)
    peak, where = peak_activations(graph)
    memory = {"peak_bytes": peak, "peak_block": where.block}
    total = len(graph.operators)
    if target in vela.ACCELERATORS:
        blockers, figures = vela.compile_with_vela(path, graph, target)
        mapped = total - len(blockers)
        return Verdict(
            target, total, mapped, blockers, (), **memory, compiled=True, figures=figures
        )
    found = TARGETS[target]
    blockers, warnings = _findings(graph, found)
    mapped = _mapped(total, found, blockers)
    return Verdict(target, total, mapped, blockers, warnings, **memory, whole=found.whole)


def _findings(graph, target):
    """(blockers, warnings)."""
    blockers, warnings = _interface(graph, target), []
    for operator in graph.operators:
        unlisted = _unlisted(operator, target)
        if unlisted:
            blockers.append(unlisted)
            continue  # an operator that it lacks can break no further rule
        for rule in target.rules:
            reason = rule.check(operator)
            if reason:
                (warnings if rule.warns else blockers).append(
                    _finding(operator, reason, rule.source)
                )
    blockers.sort(key=lambda finding: not finding.refuses)  # keeps the order otherwise
    return tuple(blockers), tuple(warnings)


def _interface(graph, target):
    """Inputs and outputs of types that the device's runtime does not pass."""
    if target.interface is None:
        return []
    return [
        Finding(-1, kind, "", f"`{one.name}` is {one.dtype}, which it cannot pass", target.source)
        for kind, tensors in (("INPUT", graph.inputs), ("OUTPUT", graph.outputs))
        for one in tensors
        if one.dtype not in target.interface
    ]


def _unlisted(operator, target):
    """The finding for an operator that the device does not have in this version, or None."""
    highest = target.versions.get(operator.name, operator.version)
    if operator.name in target.unknown:
        reason = "is unknown to its parser, which refuses the whole file"
        return _finding(operator, reason, target.versions_source, refuses=True)
    if operator.version > highest:
        reason = f"has version {operator.version}, above {highest}: it refuses the whole file"
        return _finding(operator, reason, target.versions_source, refuses=True)
    if target.operators is not None and operator.name not in target.operators:
        return _finding(operator, "is not among its operators", target.source)
    return None


def _mapped(total, target, blockers):
    """How many operators would run on the device."""
    if any(finding.refuses for finding in blockers):
        return 0
    positions = {finding.position for finding in blockers if finding.position >= 0}
    if target.contiguous:
        return min(positions, default=total)
    return total - len(positions)


def _finding(operator, reason, source, refuses=False):
    return Finding(operator.position, operator.name, operator.block, reason, source, refuses)
