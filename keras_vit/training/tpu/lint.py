"""Looks through a step's StableHLO for what a TPU cannot run, or runs badly."""

import re

# What is wrong -> how its text looks. JAX may write layouts as custom calls
# of those two beginnings.
PATTERNS = {
    "dynamic dimension": r"tensor<[^>]*\?",
    "dynamic operation": r"stablehlo\.(?:dynamic_(?!slice|update_slice)\w+|real_dynamic_slice)",
    "host call": r"stablehlo\.(?:infeed|outfeed|send|recv)\b",
    "custom call": r"stablehlo\.custom_call\b(?! @(?:Sharding|SPMD))",
    "float64": r"(?:\bcomplex<|[<x])f64\b",
}


def lint(text):
    """Returns what is wrong in a program, one entry for each kind and place.

    Args:
        text: StableHLO, before any compiler worked on it.

    Returns:
        A list of strings, empty for a program without fault.

    Example:

    >>> lint("%1 = stablehlo.add %0, %0 : tensor<?x4xf32>")
    ['dynamic dimension: %1 = stablehlo.add %0, %0 : tensor<?x4xf32>']
    """
    found = []
    for line in text.splitlines():
        for kind, pattern in PATTERNS.items():
            if re.search(pattern, line):
                found.append(f"{kind}: {line.strip()[:160]}")
    return found
