"""Sums of squares as products of tokens with themselves."""

from keras_vit.export.rewrite.norms import Rms, mean_of_squares, self_product


def self_products(model, streams):
    """Lets the norms that were folded sum their squares in a product; in place.

    Returns:
        (model, number of norms changed).
    """
    changed = 0
    for norm in [norm for stream in streams for norm in stream.norms]:
        if isinstance(norm.layer, Rms) and norm.layer.mean_square is mean_of_squares:
            norm.layer.mean_square = self_product
            changed += 1
    return model, changed
