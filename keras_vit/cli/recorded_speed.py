"""What the README shows of the recorded speed: a table, and pictures of how cost grows."""

from pathlib import Path

from keras_vit.cli.bench_against import OURS

THEIRS = {"timm": "timm", "timm_compiled": "compiled timm", "keras_hub": "KerasHub"}
ENGINES = {
    "saved_model": "SavedModel",
    "tflite": "TFLite",
    "onnxruntime": "ONNX Runtime",
    "openvino": "OpenVINO",
}
SIZES = {"batch_size": "batch", "image_size": "image size", "depth": "depth", "width": "width"}
COSTS = {"seconds": ("seconds a training step", 1), "bytes": ("MiB more in a training step", 2**20)}


def speed_table(figures):
    """Returns the row `speed` as Markdown: ours in images a second, the others as ratios.

    Args:
        figures: the JSON of the row.

    Returns:
        Markdown text. A ratio is theirs over ours in seconds, so above 1 ours is faster.
    """
    head = ["work", "images/s", *(f"× {name}" for name in THEIRS.values()), "of the products"]
    rows = []
    for row in figures["rows"]:
        if row["call"] == "file":
            continue
        ours = row[OURS]["seconds"]
        ratios = [f"{row[name]['seconds'] / ours:.2f}" for name in THEIRS]
        work = f"{row['call']}, {row['model']}, {row['dtype']}, batch {row['batch']}"
        rows.append([work, f"{row['batch'] / ours:.1f}", *ratios, f"{row['share']:.0%}"])
    return markdown(head, rows)


def memory_table(figures):
    """Returns what a training step takes more than the built model, in MiB, as Markdown.

    Args:
        figures: the JSON of the row `speed`.
    """
    rows = [
        [
            f"{row['model']}, {row['dtype']}, batch {row['batch']}",
            *(f"{row[name]['bytes'] / 2**20:,.0f}" for name in (OURS, *THEIRS)),
        ]
        for row in figures["rows"]
        if row["call"] == "training step"
    ]
    return markdown(["training step", "keras_vit", *THEIRS.values()], rows)


def files_table(figures):
    """Returns what one image takes in each exported file, in ms, as Markdown.

    Args:
        figures: the JSON of the row `speed`.
    """
    rows = [
        [
            f"{row['model']}, {row['dtype']}",
            *(f"{1000 * row[name]['seconds']:.1f}" if name in row else "" for name in ENGINES),
        ]
        for row in figures["rows"]
        if row["call"] == "file"
    ]
    return markdown(["file, one image", *ENGINES.values()], rows)


def draw_growth(figures, folder):
    """Draws how time and memory grow with batch, image size, depth and width.

    Args:
        figures: the JSON of the row `growth`.
        folder: where `growth_seconds.png` and `growth_bytes.png` are written.

    Returns:
        The two paths.
    """
    return [_draw(figures, cost, Path(folder) / f"growth_{cost}.png") for cost in COSTS]


def _draw(figures, cost, path):
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.ticker import LogLocator

    label, unit = COSTS[cost]
    figure, panels = pyplot.subplots(1, len(SIZES), figsize=(11, 3), sharey=True)
    for panel, (what, name) in zip(panels, SIZES.items(), strict=True):
        points = [row for row in figures["rows"] if row["grows"] == what]
        for package, mark in (("keras_hub", "o--"), (OURS, "o-")):
            exponent = figures["exponents"][what][package][cost]
            panel.loglog(
                [point["value"] for point in points],
                [point[package][cost] / unit for point in points],
                mark,
                label=f"{package}: size^{exponent:.2f}",
                markersize=4,
            )
        panel.set_xlabel(name)
        panel.set_xticks([p["value"] for p in points], [p["value"] for p in points], minor=False)
        panel.minorticks_off()
        panel.legend(fontsize=7, frameon=False)
    panels[0].set_ylabel(label)
    panels[0].yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    panels[0].yaxis.set_major_formatter("{x:g}")
    figure.tight_layout()
    figure.savefig(path, dpi=110)
    pyplot.close(figure)
    return path


def markdown(head, rows):
    """Returns a table as Markdown, with numbers at the right."""
    lines = [head, [":--", *["--:"] * (len(head) - 1)], *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)
