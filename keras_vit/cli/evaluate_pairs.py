"""`keras-vit evaluate` of a CLIP: how often an image finds its text, and a text its image."""

from rich.table import Table

from keras_vit.cli.console import out


def evaluate_pairs(model, data, split, batch_size, vocabulary, clean):
    """Measures and prints; returns the numbers.

    Args:
        model: a `CLIP`.
        data: `Data` of images with texts.
        split: the split, or None.
        batch_size: pairs a call.
        vocabulary, clean: as `keras_vit.data.Tokenizer` takes them.
    """
    from keras_vit.data import Tokenizer
    from keras_vit.training.retrieval import evaluate_pairs as run

    records = data.open(split)
    tokenizer = Tokenizer(vocabulary, model.config.context_length, clean)
    if tokenizer.size != model.config.vocabulary_size:
        raise ValueError(
            f"The vocabulary must have the model's {model.config.vocabulary_size} pieces: give its "
            f"own by --vocabulary. Received: one of {tokenizer.size}."
        )
    with out.status(f"{len(records):,} pairs"):
        numbers = run(model, records, tokenizer, batch_size).summary()
    table = Table(box=None, pad_edge=False)
    for name in ("among the nearest", "image finds text", "text finds image"):
        table.add_column(name, justify="right")
    for row in numbers["directions"]:
        shares = (f"{100 * row[way]:.1f} %" for way in ("image_to_text", "text_to_image"))
        table.add_row(str(row["among"]), *shares)
    out.print(table)
    out.print(
        f"{numbers['images']:,} pairs: recall [bold]{100 * numbers['recall']:.1f} %[/], "
        f"{numbers['images_per_second']:,.0f} pairs a second"
    )
    return numbers
