"""What the README shows of the files that were compiled for Ethos-U."""

from keras_vit.cli.recorded_speed import markdown

TARGETS = {"ethos-u55": "U55-256", "ethos-u65": "U65-512", "ethos-u85": "U85-1024"}


def npu_table(figures):
    """Returns the row `npu` as Markdown: share on the NPU and estimated milliseconds.

    Args:
        figures: the JSON of the row.
    """
    head = ["int8 file", "operators", "on the NPU", "left to the CPU"]
    head += [f"ms on {name}" for name in TARGETS.values()]
    rows = []
    for model, targets in figures["models"].items():
        last = targets["ethos-u85"]
        left = ", ".join(f"{count} {name}" for name, count in last["blockers"].items())
        times = [f"{targets[target]['milliseconds']:.1f}" for target in TARGETS]
        share = f"{100 * last['share']:.1f} %"
        rows.append([model, str(last["operators"]), share, left or "nothing", *times])
    return markdown(head, rows)
