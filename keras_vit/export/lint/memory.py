"""How much memory the activations of a graph take at once."""


def peak_activations(graph):
    """Returns the most bytes that computed tensors take at a time, and where.

    A tensor lives from the operator that writes it to the last one that reads it; the model's
    inputs live from the start and its outputs to the end. A runtime that works in place needs
    less, its scratch buffers come on top.

    Args:
        graph: a `Graph`.

    Returns:
        (bytes, the `Operator` during which they live).
    """
    last = {}
    for operator in graph.operators:
        for tensor in operator.computed:
            last[id(tensor)] = operator.position
    last |= {id(tensor): len(graph.operators) for tensor in graph.outputs}
    live = {id(tensor): tensor.size_bytes for tensor in graph.inputs}
    peak, where = sum(live.values()), graph.operators[0]
    for operator in graph.operators:
        live |= {id(tensor): tensor.size_bytes for tensor in operator.outputs}
        if sum(live.values()) > peak:
            peak, where = sum(live.values()), operator
        live = {key: size for key, size in live.items() if last.get(key, -1) > operator.position}
    return peak, where
