"""`keras-vit export --page`: a model on a page of its own."""

from keras_vit.cli.console import out


def export_page(network, profile, folder, records):
    """Writes the page and says how it is looked at.

    Args:
        network: the Keras model.
        profile: what `--profile` says; only `web` has a page.
        folder: of the page.
        records: calibration `Records`, or None.

    Raises:
        ValueError: for another profile, and whatever `write_page` refuses.
    """
    from keras_vit.export.web import write_page

    if profile != "web":
        raise ValueError(f"`--page` is for `--profile web`. Received: --profile {profile}.")
    with out.status("exporting for a page"):
        write_page(network, folder, records)
    out.print(f"Written to {folder}. Look at it: python -m http.server -d {folder}", soft_wrap=True)
