"""A curve as a PNG: the schedule of a run, the search for a learning rate."""

from keras_vit.files import replacing


def draw_curve(path, x, series, labels, log_x=False, mark=None):
    """Draws lines over one axis.

    Args:
        path: the PNG to write.
        x: where the values stand, `[n]`.
        series: dict of name to values `[n]`; without a legend where there is only one.
        labels: (of x, of the values).
        log_x: whether x goes by powers of ten.
        mark: (x, text) of a line across, or None.

    Returns:
        The path.
    """
    from matplotlib.figure import Figure  # without pyplot: no global state, no display

    figure = Figure(figsize=(7, 3.2), layout="tight")
    axes = figure.subplots()
    for number, (name, values) in enumerate(series.items()):
        last = number == len(series) - 1
        axes.plot(x, values, color="#0f766e" if last else "#c4c9d0", label=name)
    if log_x:
        axes.set_xscale("log")
    if mark is not None:
        axes.axvline(mark[0], color="#c2410c", linestyle="--")
        axes.annotate(mark[1], (mark[0], 0.95), xytext=(6, 0), textcoords="offset points",
                      xycoords=("data", "axes fraction"), color="#c2410c")  # fmt: skip
    if len(series) > 1:
        axes.legend(frameon=False)
    axes.set(xlabel=labels[0], ylabel=labels[1])
    axes.spines[["top", "right"]].set_visible(False)
    axes.grid(alpha=0.3)
    with replacing(path) as temporary:
        figure.savefig(temporary, format="png", dpi=110)
    return path
