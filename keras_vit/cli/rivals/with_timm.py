"""timm's ViT and Swin on PyTorch."""

TWINS = {f"swin_{size[0]}": f"swin_{size}_patch4_window7_224" for size in ("tiny", "small", "base")}


def inference(settings, compiled=False):
    """Returns the function to time."""
    import on_torch  # a file beside this one: see `loop`

    return on_torch.inference(network(settings), settings, compiled)


def training_step(settings, compiled=False):
    """Returns the function to time; the first call makes the optimizer's state."""
    import on_torch

    return on_torch.training_step(network(settings), settings, compiled)


def network(settings):
    """Returns timm's model of random weights."""
    import on_torch

    on_torch.stand_in()
    import timm

    if "model" in settings:
        return timm.create_model(TWINS[settings["model"]])
    return timm.models.VisionTransformer(**arguments(settings))


def arguments(settings):
    """Returns timm's words for the sizes asked for."""
    return {
        "img_size": settings["image_size"],
        "patch_size": settings["patch_size"],
        "embed_dim": settings["width"],
        "depth": settings["depth"],
        "num_heads": settings["num_heads"],
        "mlp_ratio": (settings["mlp_dim"] + 0.5) / settings["width"],
        "num_classes": settings["num_classes"],
    }


CALLS = {"inference": inference, "training step": training_step}
