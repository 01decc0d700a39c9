"""The residual streams of a model: what writes to them, and which norms read them."""

import dataclasses

import keras

from keras_vit.export.rewrite.matrices import with_bias
from keras_vit.export.rewrite.parts import exchange
from keras_vit.export.rewrite.patch_convolution import PatchConvolution
from keras_vit.layers import (
    AttentionPooling,
    LayerNorm,
    MeanPooling,
    PatchEncoder,
    PatchMerging,
    TokenAndMeanPooling,
    TokenPooling,
    TokenScorer,
    TransformerBlock,
)
from keras_vit.layers.attention import Attention
from keras_vit.layers.pooling_block import PoolingBlock
from keras_vit.layers.relative_attention import RelativeAttention
from keras_vit.layers.window_attention import WindowAttention

# Through these a factor of each channel passes, and an offset, too.
LINEAR = (
    keras.layers.Dropout,
    keras.layers.GlobalAveragePooling2D,
    keras.layers.Reshape,
    MeanPooling,
    TokenAndMeanPooling,
    TokenPooling,
)


@dataclasses.dataclass
class Norm:
    """A norm and what reads it.

    Args:
        layer: the `LayerNorm`, or what took its place.
        owner: the layer that holds it, or None in the graph itself.
        name: its name there.
        readers: (owner, name) of the linear layers that alone read it; None if something else
            does, which gamma and beta cannot move into.
    """

    layer: object
    owner: object
    name: str
    readers: list | None


@dataclasses.dataclass
class Stream:
    """Tokens that layers write to by adding.

    Args:
        writers: the linear layers whose outputs are added up.
        tables: what else is added: (owner, attribute) of weights and arrays `[..., width]`.
        norms: the `Norm`s that read it, and nothing else does.
        closed: whether writers and tables are all that is added up, and only norms of single
            tokens read the sum.
    """

    writers: list
    tables: list
    norms: list
    closed: bool = True


def residual_streams(model):
    """Returns the streams of an inference copy, in the order of the graph."""
    streams = []
    for layer in model.layers:
        if isinstance(layer, PatchEncoder):
            streams.append(_embedding(model, layer))
        elif type(layer) is LayerNorm:
            _top_norm(model, streams, layer)
        elif type(layer) in (TransformerBlock, PoolingBlock):
            _block(streams, layer)
        elif isinstance(layer, PatchMerging):
            # It has no bias, and the beta of its norm needs one.
            exchange(layer, "reduction", with_bias(layer.reduction))
            norm = Norm(layer.norm, layer, "norm", [(layer, "reduction")])
            # The norm takes off the mean of four tokens together, not that of each.
            _current(streams).norms.append(norm)
            _current(streams).closed = False
            streams.append(Stream([layer.reduction], [], []))
        elif isinstance(layer, TokenScorer):
            _current(streams).closed = False  # it reads the tokens as they are
        elif not isinstance(layer, (*LINEAR, keras.layers.InputLayer, PatchConvolution)):
            streams.append(Stream([], [], [], closed=False))
    return [stream for stream in streams if stream.norms]


def _current(streams):
    return streams[-1] if streams else Stream([], [], [], closed=False)


def _embedding(model, encoder):
    (conv,) = [layer for layer in model.layers if isinstance(layer, PatchConvolution)]
    names = ("class_token", "registers", "position", "_table", "time")
    tables = [(encoder, name) for name in names if getattr(encoder, name, None) is not None]
    return Stream([conv.convolution], tables, [])


def _top_norm(model, streams, layer):
    readers = _readers(model, layer)
    _current(streams).norms.append(Norm(layer, None, layer.name, readers))
    if readers is None:  # it begins a stream of its own, as Swin's does after the patches
        streams.append(Stream([], [], [], closed=False))


def _block(streams, block):
    stream, attention = _current(streams), block.attention
    kinds = (Attention, RelativeAttention, WindowAttention)
    stream.norms.append(Norm(block.norm1, block, "norm1", _attention_readers(block)))
    if isinstance(block, PoolingBlock):
        # What comes in is read by the shortcut, too, which begins another stream.
        stream.closed = False
        project = block.shortcut.project
        stream = Stream([project] if project else [], [], [], closed=project is not None)
        streams.append(stream)
    if type(attention) not in kinds:
        stream.closed = False
    stream.writers += [attention.out, block.mlp.fc2]
    stream.norms.append(Norm(block.norm2, block, "norm2", [(block.mlp, "fc1")]))


def _attention_readers(block):
    attention = block.attention
    if type(attention) not in (Attention, RelativeAttention, WindowAttention):
        return None
    if any(getattr(attention, "pad", ())):
        return None  # the zeros around a padded map come after beta
    if isinstance(block, PoolingBlock) and block.shortcut.halve and block.shortcut.pool == "max":
        return None  # a negative gamma makes of the largest value the smallest
    return [(attention, "qkv")]


def _readers(model, layer):
    """(owner, name) of the linear layers that alone read a layer of the graph, or None."""
    found, waiting = [], [layer]
    while waiting:
        consumers = _consumers(model, waiting.pop())
        if not consumers:
            return None  # it is the model's output
        for operation in consumers:
            if isinstance(operation, keras.layers.Dense):
                found.append((None, operation.name))
            elif isinstance(operation, AttentionPooling):
                found.append((operation.attention, "key_value"))
            elif isinstance(operation, LINEAR) or type(operation).__name__ == "GetItem":
                waiting.append(operation)
            else:
                return None
    return found


def _consumers(model, operation):
    """What reads an operation in this graph: its own nodes tell of other graphs, too."""
    nodes = [node for level in model._nodes_by_depth.values() for node in level]
    return [
        node.operation
        for node in nodes
        if any(parent.operation is operation for parent in node.parent_nodes)
    ]
