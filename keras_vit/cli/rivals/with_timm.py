"""timm's ViT on PyTorch: eager, and compiled."""


def inference(settings, compiled=False):
    """Returns the function to time."""
    import torch

    device = best_device()
    dtype = torch.bfloat16 if settings["dtype"] == "bfloat16" else torch.float32
    model = architecture()(**arguments(settings)).to(device, dtype).eval()
    if compiled:
        model = torch.compile(model, dynamic=False)
    size = settings["image_size"]
    images = torch.randn(settings["batch_size"], 3, size, size, device=device, dtype=dtype)

    def infer():
        with torch.inference_mode():
            model(images).float().cpu()

    return infer


def training_step(settings, compiled=False):
    """Returns the function to time; the first call makes the optimizer's state."""
    import torch

    device, size = best_device(), settings["image_size"]
    model = architecture()(**arguments(settings)).to(device).train()
    if compiled:
        model = torch.compile(model, dynamic=False)
    images = torch.randn(settings["batch_size"], 3, size, size, device=device)
    labels = torch.randint(0, settings["num_classes"], (len(images),), device=device)
    optimizer = torch.optim.AdamW(model.parameters(), 1e-4, weight_decay=0.05)

    def step():
        with torch.autocast(device, torch.bfloat16, enabled=settings["dtype"] == "bfloat16"):
            loss = torch.nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.item()

    return step


def best_device():
    """Returns `"cuda"` where there is one."""
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"


def architecture():
    """Returns timm's VisionTransformer."""
    import torch

    # Beside a CPU-only torch, torchvision lacks two compiled operators that timm never calls.
    library = torch.library.Library("torchvision", "DEF")
    for name in ("nms", "qnms"):
        library.define(f"{name}(Tensor dets, Tensor scores, float threshold) -> Tensor")
    from timm.models.vision_transformer import VisionTransformer

    VisionTransformer.library = library  # the operators live as long as it does
    return VisionTransformer


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
