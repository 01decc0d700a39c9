"""What the README shows of the steps that were compiled for TPUs, and of what `fit` costs."""

from keras_vit.cli.recorded_speed import markdown


def sizes_table(figures):
    """Returns the row `tpu_table` as Markdown.

    Args:
        figures: the JSON of the row.
    """
    head = ["size", "smallest slice", "chips a copy of the weights", "GiB a chip", "FLOPs / count"]
    rows = [
        [
            size,
            it["topology"],
            str(it["tensor_parallel"]),
            f"{it['hbm_mib'] / 1024:.1f}",
            f"{it['flops_over_analytic']:.3f}",
        ]
        for size, it in figures["sizes"].items()
    ]
    return markdown(head, rows)


def b16_table(figures):
    """Returns the row `tpu_b16` as Markdown: its steps, and the largest batch.

    Args:
        figures: the JSON of the row.
    """
    head = ["B/16", "images a chip", "GiB a chip", "FLOPs / count", "all-reduces, MiB"]
    batch, largest = figures["batch_per_chip"], figures["largest_batch_per_chip"]
    steps = [(name, batch, it) for name, it in figures["steps"].items()]
    steps.append((f"v5e:2x2; {largest['does_not']} do not fit", largest["compiles"], largest))
    rows = [
        [
            name,
            str(size),
            f"{it['hbm_mib'] / 1024:.1f}",
            f"{it['flops_over_analytic']:.3f}",
            _reduced(it["collectives"]),
        ]
        for name, size, it in steps
    ]
    return markdown(head, rows)


def fit_table(figures):
    """Returns the row `fit_cost` as Markdown: seconds with the exact step over Keras's own.

    Args:
        figures: the JSON of the row.
    """
    rows = [
        [f"{row['model']}, batch {row['batch']}, {row['program']}", f"{row['ratio']:.3f}"]
        for row in figures["rows"]
    ]
    return markdown(["`fit` on one device", "ours / Keras's"], rows)


def _reduced(collectives):
    """Number and size of the sums over the chips."""
    if not collectives:
        return "none"
    return ", ".join(f"{it['count']}, {it['bytes'] / 2**20:.0f}" for it in collectives.values())
