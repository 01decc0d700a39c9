"""transformers' TimeSformer on PyTorch."""


def inference(settings):
    """Returns the function to time."""
    import on_torch  # a file beside this one: see `loop`

    return on_torch.inference(network(settings), settings)


def training_step(settings):
    """Returns the function to time; the first call makes the optimizer's state."""
    import on_torch

    return on_torch.training_step(network(settings), settings)


def network(settings):
    """Returns the model of the class's own sizes, those of TimeSformer-B."""
    import on_torch
    import torch

    on_torch.stand_in()
    from transformers import TimesformerConfig, TimesformerForVideoClassification

    class Logits(torch.nn.Module):
        """The model, from clips to logits alone."""

        def __init__(self):
            super().__init__()
            frames, classes = settings["frames"], settings["num_classes"]
            config = TimesformerConfig(num_frames=frames, num_labels=classes)
            self.model = TimesformerForVideoClassification(config)

        def forward(self, clips):
            return self.model(clips).logits

    return Logits()


CALLS = {"inference": inference, "training step": training_step}
