"""timm's ViT, compiled by PyTorch, which needs a C++ compiler on the CPU."""


def inference(settings):
    """Returns the function to time."""
    import with_timm  # a file beside this one: see `loop`

    return with_timm.inference(settings, compiled=True)


def training_step(settings):
    """Returns the function to time; the first call makes the optimizer's state."""
    import with_timm

    return with_timm.training_step(settings, compiled=True)


CALLS = {"inference": inference, "training step": training_step}
