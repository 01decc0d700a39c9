"""The error about an artefact that is not good enough."""


class Refused(ValueError):
    """Says what is wrong with an artefact, which was not kept.

    Args:
        message: the sentence.
        verdict: the linter's `Verdict` for the profile's device, or None.
    """

    def __init__(self, message, verdict=None):
        super().__init__(message)
        self.verdict = verdict
