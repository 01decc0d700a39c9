"""This package's DynamicViT of a plain ViT's size, and that ViT: see `recording_dynamic`."""


def vit(settings, dtype):
    """Returns a ViT of random weights."""
    import with_keras_vit  # a file beside this one: see `loop`

    return with_keras_vit.model(settings, dtype)


def dynamic(settings, dtype):
    """Returns a DynamicViT of random weights."""
    import with_keras_vit

    from keras_vit.factory import create_model

    fields = {name: settings[name] for name in with_keras_vit.FIELDS}
    ratios = settings["keep_ratios"]
    return create_model("dynamic_deit_b16", dtype=dtype, keep_ratios=ratios, **fields)


def merged(settings, dtype):
    """Returns a ViT of random weights that merges tokens."""
    from keras_vit.models import merge_tokens

    return merge_tokens(vit(settings, dtype), settings["merged"])


def inference(build, settings):
    """Returns the function to time."""
    import with_keras_vit

    return with_keras_vit.keras_inference(build, settings)


MODELS = {"vit": vit, "dynamic": dynamic, "merged": merged}
CALLS = {
    name: lambda settings, build=build: inference(build, settings) for name, build in MODELS.items()
}
