import pytest

from keras_vit import ViT, create_model, factory, list_models, weights
from keras_vit.models import ViTConfig
from keras_vit.models.vit import PATCH_SIZES, VARIANTS, variant_config

TINY = {"image_size": 32, "depth": 1, "width": 14, "num_heads": 2, "mlp_dim": 11}


def test_names():
    names = list_models()
    assert len(names) == len(set(names))
    assert sum(name.startswith("vit_") for name in names) == len(VARIANTS) * len(PATCH_SIZES)
    wanted = {"vit_ti16", "vit_s16", "vit_b16", "vit_b32", "vit_l14", "vit_so400m14", "vit_h14"}
    assert wanted | {"vit_g14", "vit_gigantic14"} <= set(names)
    assert all(name == name.lower() for name in names)


@pytest.mark.parametrize("size", VARIANTS)
@pytest.mark.parametrize("patch", PATCH_SIZES)
def test_every_variant_has_its_name(size, patch):
    model_class, fields = factory.MODELS[
        f"vit_{ {'G': 'gigantic'}.get(size, size.lower()) }{patch}"
    ]
    assert model_class is ViT
    config = variant_config(f"{size}/{patch}", image_size=patch)
    assert config == ViTConfig(**fields, image_size=patch)


def test_small_and_large_g_differ():
    widths = [factory.MODELS[name][1]["width"] for name in ("vit_g14", "vit_gigantic14")]
    assert widths == [1408, 1664]


def test_create_model():
    model = create_model("vit_b16", **TINY, num_classes=5, pooling="gap", dtype="mixed_bfloat16")
    assert type(model) is ViT
    assert model.config.patch_size == (16, 16)
    assert model.output_shape == (None, 5)
    assert model.policy.name == "mixed_bfloat16"


def test_an_unknown_name_lists_the_known():
    with pytest.raises(ValueError) as caught:
        create_model("vit_b17")
    message = str(caught.value)
    assert message.startswith("There is no model 'vit_b17'. Did you mean 'vit_b1")
    assert all(name in message for name in list_models())


@pytest.mark.parametrize("name", ["resnet50", None, 3])
def test_a_name_like_no_other(name):
    with pytest.raises(ValueError, match="There is no model"):
        create_model(name)


def test_an_unknown_field_lists_the_known():
    with pytest.raises(ValueError) as caught:
        create_model("vit_b16", heads=3)
    message = str(caught.value)
    assert message.startswith("`vit_b16` has no field 'heads'. Its fields: image_size, patch_size")
    assert "num_heads" in message


@pytest.mark.parametrize("argument", ["weights_format", "weights_image_size"])
def test_what_needs_weights(argument):
    with pytest.raises(ValueError, match=f"`{argument}` needs `weights`. Received: 'jax'."):
        create_model("vit_b16", **TINY, **{argument: "jax"})


def saved(folder, **fields):
    config = {"norm_epsilon": 1e-12, "num_classes": 3, **fields}
    model = create_model("vit_ti16", **{**TINY, **config})
    weights.save(model, folder, "hf")
    return model


def test_a_file_of_another_patch_size_than_the_name_says(tmp_path):
    saved(tmp_path / "w", patch_size=8)
    size = {key: TINY[key] for key in ("width", "depth", "num_heads", "mlp_dim")}
    with pytest.raises(ValueError, match=r"is no vit_ti16: its patch_size is \(8, 8\)"):
        create_model("vit_ti16", weights=tmp_path / "w", **size)
    model = create_model("vit_ti16", weights=tmp_path / "w", **size, patch_size=16)
    assert "patches resized from 8×8 to 16×16" in str(model.weights_report.remarks)


def test_the_names_of_classes_go_with_their_head(tmp_path):
    saved(tmp_path / "w", preprocessing={"class_names": ["a", "b", "c"], "mean": (0.1, 0.2, 0.3)})
    size = {key: TINY[key] for key in ("width", "depth", "num_heads", "mlp_dim")}
    for classes, names in ((None, ("a", "b", "c")), (5, ()), (0, ())):
        fields = {} if classes is None else {"num_classes": classes}
        preprocessing = create_model("vit_ti16", weights=tmp_path / "w", **size, **fields)
        preprocessing = preprocessing.preprocessing
        assert preprocessing.class_names == names and preprocessing.mean == (0.1, 0.2, 0.3)


def test_a_convention_that_was_asked_for_is_told(tmp_path):
    saved(tmp_path / "w")
    size = {key: TINY[key] for key in ("width", "depth", "num_heads", "mlp_dim")}
    model = create_model("vit_ti16", weights=tmp_path / "w", **size, activation="relu")
    assert model.config.activation == "relu"
    told = "activation is 'relu', as asked; the file's is 'gelu'."
    assert told in model.weights_report.notes


def test_a_table_that_is_no_square_is_told_its_images(tmp_path):
    model = create_model("vit_ti16", **{**TINY, "image_size": (32, 96)}, activation="gelu_tanh")
    weights.save(model, tmp_path / "w.npz", "jax")
    options = {"weights": tmp_path / "w.npz", "weights_format": "jax"}
    size = {key: TINY[key] for key in ("width", "depth", "num_heads", "mlp_dim")}
    with pytest.raises(ValueError, match="`weights_image_size` in create_model"):
        create_model("vit_ti16", **options, **size)
    again = create_model("vit_ti16", **options, **size, weights_image_size=(32, 96))
    assert again.config.image_size == (32, 96)
