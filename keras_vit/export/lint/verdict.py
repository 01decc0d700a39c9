"""What the linter says."""

import dataclasses


@dataclasses.dataclass(frozen=True)
class Finding:
    """One operator that a device does not take, or takes with a doubt.

    Args:
        position: of the operator in the file, from 0; -1 for the file's inputs and outputs.
        operator: its name.
        block: the layer that it belongs to, or an empty text.
        reason: a sentence part.
        source: where the rule comes from.
        refuses: whether the device's parser refuses the whole file for it.
    """

    position: int
    operator: str
    block: str
    reason: str
    source: str
    refuses: bool = False

    def __str__(self):
        where = f"{self.block} " if self.block else ""
        return f"{where}{self.operator} {self.reason}"


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What would run on a device.

    Args:
        target: name of the device.
        operators: number of operators in the file.
        mapped: how many of them would run on the device.
        blockers: tuple of `Finding`s in the file's order, those that refuse the file first.
        warnings: tuple of `Finding`s of operators that run, with a doubt.
        peak_bytes: most bytes of activations at a time.
        peak_block: the layer where that is.
        whole: whether a blocker means that the file does not run there at all.
        compiled: whether a real compiler said so; otherwise the rules did.
        figures: dict of what a compiler estimates, such as `"milliseconds"`.
    """

    target: str
    operators: int
    mapped: int
    blockers: tuple
    warnings: tuple
    peak_bytes: int
    peak_block: str
    whole: bool = False
    compiled: bool = False
    figures: dict = dataclasses.field(default_factory=dict)

    @property
    def share(self):
        """Share of the operators that would run on the device, 0 to 1."""
        return self.mapped / max(self.operators, 1)

    @property
    def passes(self):
        """Whether all of them would."""
        return not self.blockers

    def __str__(self):
        how = "compiled" if self.compiled else "by the rules; not compiled"
        text = f"{self.target}: {self.mapped} of {self.operators} operators would map ({how})"
        if self.passes:
            return f"{text}."
        end = ", and the file would not run" if self.whole else ""
        return f"{text}{end}; first blocker: {self.blockers[0]}."

    def summary(self):
        """Returns all of it as a dict for JSON."""
        return {**dataclasses.asdict(self), "share": self.share, "verdict": str(self)}
