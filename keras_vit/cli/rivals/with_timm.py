"""timm's ViT, eager, on PyTorch."""


def calls(settings):
    """Returns name -> function: inference and training step on random images."""
    import torch

    vision_transformer = architecture()
    device = "cuda" if torch.cuda.is_available() else "cpu"
    half, size = settings["dtype"] == "bfloat16", settings["image_size"]
    trained = vision_transformer(**arguments(settings)).to(device).train()
    frozen = (
        vision_transformer(**arguments(settings))
        .to(device, torch.bfloat16 if half else torch.float32)
        .eval()
    )
    images = torch.randn(settings["batch_size"], 3, size, size, device=device)
    inputs = images.to(torch.bfloat16) if half else images
    labels = torch.randint(0, settings["num_classes"], (len(images),), device=device)
    optimizer = torch.optim.AdamW(trained.parameters(), 1e-4, weight_decay=0.05)

    def infer():
        with torch.inference_mode():
            frozen(inputs).float().cpu()

    def step():
        with torch.autocast(device, torch.bfloat16, enabled=half):
            loss = torch.nn.functional.cross_entropy(trained(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        loss.item()

    return {"inference": infer, "training step": step}


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
