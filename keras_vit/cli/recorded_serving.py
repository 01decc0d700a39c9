"""What the README shows of the recorded load on a server: a table."""

LOADS = {
    "batched": "batches of up to 16",
    "one_by_one": "one by one",
    "short_queue": "a queue of {short_queue_holds}",
}


def serving_table(figures):
    """Returns the row `serving` as Markdown.

    Args:
        figures: the JSON of the row.
    """
    lines = [
        "| server | answers/s | p50 | p99 | images a batch | answered | refused | wrong or lost |",
        "| :-- | --: | --: | --: | --: | --: | --: | --: |",
    ]
    for name, text in LOADS.items():
        row = figures[name]
        cells = [
            text.format(**figures),
            f"{row['answers_per_second']:.0f}",
            f"{row['p50_ms']:.0f} ms",
            f"{row['p99_ms']:.0f} ms",
            f"{row['images_a_batch']:.1f}",
            f"{row['answered']:,}",
            f"{row['refused']:,}",
            f"{row['wrong'] + row['failed'] + abs(row['lost'])}",
        ]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)
