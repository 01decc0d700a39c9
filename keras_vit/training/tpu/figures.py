"""What the compiler says of a program: memory, arithmetic, and what goes between the chips."""

import math
import re

COLLECTIVES = (
    "all-gather",
    "all-reduce",
    "all-to-all",
    "collective-permute",
    "reduce-scatter",
)
OPERATION = re.compile(rf" = (.+?) ({'|'.join(COLLECTIVES)})(?:-start)?\(")
ARRAY = re.compile(r"([a-z]+\d*)\w*\[([\d,]*)\]")


def figures(memory, cost, text):
    """Returns the figures of a compiled program, each of one chip.

    Args:
        memory: its memory statistics, as XLA gives them.
        cost: its cost analysis, as XLA gives it.
        text: its HLO, after all passes.

    Returns:
        A dict: `hbm` in bytes with its parts, `flops`, and `collectives` by kind.
    """
    parts = {
        "arguments": memory.argument_size_in_bytes,
        # The new state takes the place of the old; what is left is the loss and the like.
        "outputs": memory.output_size_in_bytes - memory.alias_size_in_bytes,
        "temporaries": memory.temp_size_in_bytes,
        "program": memory.generated_code_size_in_bytes,
    }
    cost = cost[0] if isinstance(cost, list) else cost
    return {
        "hbm": sum(parts.values()),
        **parts,
        "flops": cost["flops"],
        "collectives": collectives(text),
    }


def collectives(text):
    """Counts the operations that talk to other chips.

    Args:
        text: HLO.

    Returns:
        A dict: kind -> `count` and `bytes`, the size of the results on one chip.

    Example:

    >>> collectives("%a = bf16[8,4]{1,0} all-reduce(%b), channel_id=1")
    {'all-reduce': {'count': 1, 'bytes': 64}}
    """
    found = {}
    for types, kind in OPERATION.findall(text):
        entry = found.setdefault(kind, {"count": 0, "bytes": 0})
        entry["count"] += 1
        entry["bytes"] += sum(_bytes(*array) for array in ARRAY.findall(types))
    return found


def gathers_of(text, sizes):
    """Returns the all-gathers whose result is as large as one of the given arrays.

    Args:
        text: HLO.
        sizes: numbers of elements of arrays that should stay where they are.

    Returns:
        A list of the types, such as `["f32[768,2304]{1,0}"]`.
    """
    return [
        types
        for types, kind in OPERATION.findall(text)
        if kind == "all-gather"
        and any(_elements(dimensions) in sizes for _, dimensions in ARRAY.findall(types))
    ]


def _elements(dimensions):
    return math.prod(int(side) for side in dimensions.split(",") if side)


def _bytes(dtype, dimensions):
    bits = int(re.sub(r"\D", "", dtype) or 8)  # pred has no number
    return _elements(dimensions) * bits // 8
