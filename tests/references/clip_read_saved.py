"""Opens a folder that we wrote by transformers or OpenCLIP, and writes what they compute.

`python clip_read_saved.py hf|open_clip FOLDER`, with `saved/` and `inputs.npz` (images, texts) in
the folder; writes `outputs.npz`.
"""

import pathlib
import sys

import numpy as np

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from tests.references.vit_reference import import_timm  # noqa: E402


def embeddings(format, path, pixels, texts):
    if format == "hf":
        import transformers

        found = transformers.CLIPModel.from_pretrained(path).eval()(texts, pixels)
        return found.image_embeds, found.text_embeds
    import open_clip

    model = open_clip.create_model(f"local-dir:{path}").eval()
    return model.encode_image(pixels, True), model.encode_text(texts, True)


def main(format, folder):
    import_timm()
    import torch

    with np.load(folder / "inputs.npz") as inputs:
        pixels = torch.from_numpy(inputs["images"].transpose(0, 3, 1, 2))
        texts = torch.from_numpy(inputs["texts"].astype("int64"))
    with torch.no_grad():
        images, texts = embeddings(format, folder / "saved", pixels, texts)
    np.savez(folder / "outputs.npz", images=images.numpy(), texts=texts.numpy())


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
