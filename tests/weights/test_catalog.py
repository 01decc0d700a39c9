import json
import re
from urllib.parse import urlsplit

import pytest

from keras_vit import create_model, list_models
from keras_vit.layers import Preprocessing
from keras_vit.models import NAMES
from keras_vit.weights import SOURCES, CatalogEntry, catalog, list_weights
from keras_vit.weights.catalog import TABLE, catalog_entry
from keras_vit.weights.sources import table_of

ROWS = list(catalog().values())
HOSTS = {"storage.googleapis.com", "dl.fbaipublicfiles.com", "huggingface.co"}
# SPDX names: https://spdx.org/licenses
LICENCES = {"Apache-2.0", "CC-BY-NC-4.0"}
SIZES = {"Ti": "ti", "tiny": "ti", "small": "s", "medium": "m", "base": "b", "large": "l"}
SIZES |= {"huge": "h", "giant": "g", "S": "s", "B": "b", "L": "l", "H": "h", "s": "s"}


@pytest.fixture(params=ROWS, ids=lambda row: row.name)
def row(request):
    return request.param


def test_every_name_stands_once():
    pairs = []
    json.loads(TABLE.read_text("utf-8"), object_pairs_hook=lambda found: pairs.append(found) or {})
    names = [name for name, _ in pairs[-1]]
    assert len(names) > 100 and names == list(catalog())
    assert len(set(names)) == len(names)
    assert len({row.url for row in ROWS}) == len(ROWS)
    assert len({row.file for row in ROWS}) == len(ROWS)


def test_names_are_no_paths(row):
    """`load` takes anything with a dot or a slash for a path."""
    assert re.fullmatch(r"[a-z0-9_]+", row.name)


def test_a_row_says_who_says_so(row):
    assert len(row.citation) > 20 and row.note
    assert row.licence in LICENCES
    assert ("CC-BY-NC" in row.licence) == (row.source == "mae")
    assert row.top1 is None or 60 < row.top1 < 92
    assert not row.top1 or "not stated" not in row.note


def test_a_row_can_be_loaded(row):
    address = urlsplit(row.url)
    assert address.scheme == "https" and address.netloc in HOSTS and not address.query
    assert row.model in list_models() and row.source in SOURCES
    assert row.file.endswith(SOURCES[row.source].files)
    model_class, variant = NAMES[row.model]
    table_of(row.source, model_class)
    assert row.image_size % variant["patch_size"] == 0
    assert row.num_classes in (0, 1000, 21843)
    Preprocessing(row.image_size, **row.preprocessing)


def test_checksums_are_those_in_the_file_names(row):
    digits = re.search(r"-([0-9a-f]{8})\.pth$", row.url)
    assert row.sha256 == (digits[1] if digits else None)


def test_eight_files_state_their_checksum():
    """Or the test above would hold for a table without any."""
    stated = {row.name: row.sha256 for row in ROWS if row.sha256}
    assert len(stated) == 8
    # timm's deit.py has the same address.
    assert stated["vit_b16_deit_224"] == "b5f2ef4d"


# How the publishers' names tell size, patch, image size and classes.
ADDRESSES = (
    r"imagenet21k(?P<fine>\+imagenet2012)?/ViT-(?P<size>\w)_(?P<patch>\d+)(-(?P<image>224))?\.npz",
    r"augreg/(?P<size>Ti|S|B|L)_(?P<patch>\d+)-(?P<data>i1k|i21k)-.*?"
    r"(?P<fine>--imagenet2012-.*-res_(?P<image>\d+))?\.npz",
    r"big_vision/vit_(?P<size>s)(?P<patch>16)_(?P<data>i1k)_\d+ep\.npz",
    r"deit/deit_(3_)?(?P<size>\w+?)_(distilled_)?(patch(?P<patch>\d+)_)?(?P<image>224|384)"
    r"(_(?P<data>1k|21k)(_v1)?|-\w{8})\.pth",
    r"dinov2_vit(?P<size>\w)(?P<patch>14)(?P<registers>_reg4)?_pretrain\.pth",
    r"mae/(?P<stage>pretrain|finetune)/mae_\w+_vit_(?P<size>\w+)\.pth",
    r"google/vit-(?P<size>\w+)-patch(?P<patch>\d+)-(?P<image>\d+)(?P<bare>-in21k)?/",
    r"facebook/dinov2-(?P<size>\w+)/",
    r"timm/(vit|deit3?)_(?P<size>\w+?)_patch(?P<patch>\d+)(_(?P<registers>reg4))?"
    r"(_dinov2|_(?P<image>\d+))\.(?P<tag>\w+)/",
)


def test_the_address_tells_the_same(row):
    matches = [match for form in ADDRESSES if (match := re.search(form, row.url))]
    assert len(matches) == 1
    told = matches[0].groupdict()
    _, size, patch = re.match(r"(vit|deit|dinov2)_([a-z]+?)(\d+)", row.model).groups()
    assert SIZES.get(told["size"], told["size"]) == size
    if told.get("patch"):
        assert told["patch"] == patch
    if told.get("image"):
        assert int(told["image"]) == row.image_size
    assert bool(told.get("registers")) == row.model.endswith("_reg")
    assert ("distilled" in row.url) == row.model.startswith("deit")
    assert ("dinov2" in row.url) == row.model.startswith("dinov2") == (row.image_size == 518)


def test_the_address_tells_the_classes(row):
    pretrained_on_i21k = "imagenet21k/" in row.url or re.search(
        r"augreg/\w+-i21k-(?!.*--)", row.url
    )
    if pretrained_on_i21k or ".augreg_in21k/" in row.url:
        assert row.num_classes == 21843
    elif any(word in row.url for word in ("dinov2", "mae/pretrain", "-in21k/")):
        assert row.num_classes == 0
    else:
        assert row.num_classes == 1000


def test_weights_of_a_model():
    assert list_weights() == list(catalog())
    assert list_weights("vit_h14")[0] == "vit_h14_i21k"
    found = {model: list_weights(model) for model in list_models()}
    assert sum(map(len, found.values())) == len(ROWS)
    assert set(found["dinov2_s14_reg"]) == {"dinov2_s14_reg"}
    assert all(catalog()[name].model == model for model, names in found.items() for name in names)
    assert list_weights("r50_b16") == []


def test_one_row():
    row = catalog_entry("vit_b16_deit_224")
    assert isinstance(row, CatalogEntry) and row is catalog()["vit_b16_deit_224"]
    assert (row.model, row.source, row.image_size, row.num_classes) == (
        "vit_b16",
        "deit",
        224,
        1000,
    )
    assert row.file == "vit_b16_deit_224.pth"
    assert catalog_entry("hf_vit_b16_i21k").file == "hf_vit_b16_i21k.safetensors"


def test_names_that_are_not_there():
    with pytest.raises(ValueError, match="'vit_b16_i21kk'.* Close to it: .*vit_b16_i21k,"):
        catalog_entry("vit_b16_i21kk")
    with pytest.raises(ValueError, match=r"no published weights 'xyz', and no such file\. `keras"):
        catalog_entry("xyz")
    with pytest.raises(ValueError, match="no published weights 3"):
        catalog_entry(3)
    with pytest.raises(ValueError, match="Close to it: .*vit_ti16_deit_224"):
        create_model("vit_ti16", weights="vit_ti16_deit_22")
