"""Calls of a PyTorch model, as the other packages' files time them."""

import functools


@functools.cache  # and with it the operators: they live as long as the library does
def stand_in():
    """Defines what torchvision lacks beside a CPU-only torch: two operators, only imported here."""
    import torch

    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor dets, Tensor scores, float threshold) -> Tensor")
    return library


def inference(network, settings, compiled=False):
    """Returns the function to time.

    Args:
        network: a module from `[b, 3, h, w]`, or clips `[b, t, 3, h, w]`, to logits.
        settings: see `loop`.
        compiled: whether PyTorch compiles it, which needs a C++ compiler on the CPU.
    """
    import torch

    dtype = torch.bfloat16 if settings["dtype"] == "bfloat16" else torch.float32
    model = network.to(device(), dtype).eval()
    if compiled:
        model = torch.compile(model, dynamic=False)
    images = drawn(settings).to(dtype)

    def infer():
        with torch.inference_mode():
            model(images).float().cpu()

    return infer


def training_step(network, settings, compiled=False):
    """Returns the function to time; the first call makes the optimizer's state.

    Args:
        network, settings, compiled: as in `inference`.
    """
    import torch

    model = network.to(device()).train()
    if compiled:
        model = torch.compile(model, dynamic=False)
    images = drawn(settings)
    labels = torch.randint(0, settings["num_classes"], (len(images),), device=device())
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, weight_decay=0.05)

    def step():
        with torch.autocast(device(), torch.bfloat16, enabled=settings["dtype"] == "bfloat16"):
            loss = torch.nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.item()

    return step


def drawn(settings):
    """Returns random images, or clips."""
    import torch

    size = settings["image_size"]
    clip = (settings["frames"],) if "frames" in settings else ()
    return torch.randn(settings["batch_size"], *clip, 3, size, size, device=device())


def device():
    """Returns `"cuda"` where there is one."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"
