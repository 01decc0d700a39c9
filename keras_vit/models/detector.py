"""Detectors: RetinaNet's heads on the pyramid of a Swin, or on a simple one of a plain ViT.

Lin et al., *Focal Loss for Dense Object Detection*, 2017, arXiv 1708.02002; Lin et al., *Feature
Pyramid Networks for Object Detection*, 2016, arXiv 1612.03144, which is the pyramid of a Swin.

The feature pyramid and the heads are KerasHub's layers (0.32). What is not taken from its
`RetinaNetObjectDetector`, and why:

- the model itself: it starts the *box* head, not the class head, at the prior probability of 0.01,
  so that training starts with boxes far away and every anchor half sure of every class; it
  draws the kernels with a deviation of 0.05, where the paper has 0.01; and its widths of 256 are
  fixed;
- `compute_loss` and the matching of anchors: see `keras_vit.objectives.detection_loss`;
- the pyramid's levels above 5: the shape that it states for them is wrong for images that are not
  square, and with it those of the whole graph;
- its anchors: see `keras_vit.layers.anchors`;
- `NonMaxSuppression`: it knows one class an anchor, and lets a box of one class suppress those of
  others: see `keras_vit.runtime.detections`.
"""

import dataclasses
import math

import keras

from keras_vit.layers import LayerNorm, Preprocessing
from keras_vit.layers.anchors import anchor_boxes
from keras_vit.layers.choices import check_choice
from keras_vit.layers.extras import require
from keras_vit.layers.simple_pyramid import simple_pyramid
from keras_vit.layers.sizes import pair, patch_grid
from keras_vit.models import swin, vit
from keras_vit.models.base import ImageModel, check_count, fitted_preprocessing

# Small enough to be trained on a laptop; not of a paper.
MICRO = {
    "width": 32,
    "depths": (2, 2, 4, 2),
    "num_heads": (1, 2, 4, 8),
    "window_size": 4,
    "preprocessing": swin.AT_224,
}
# Name -> (model class, fields of its config).
BACKBONES = {
    "swin_micro": (swin.Swin, MICRO),
    **{name: (swin.Swin, fields) for name, fields in swin.NAMES.items()},
    **{
        name: (vit.ViT, fields)
        for name, fields in vit.NAMES.items()
        if fields["patch_size"] in (8, 16)
    },
}
# Fields of a backbone's config that are the detector's.
OWN_FIELDS = ("image_size", "channels", "num_classes", "preprocessing")
# Images are a multiple of this: maps then double exactly from one level to the next.
MULTIPLE = 32


@dataclasses.dataclass(frozen=True)
class DetectorConfig:
    """Everything that defines a detector.

    Args:
        backbone: one of `BACKBONES`.
        backbone_fields: fields of the backbone's config that differ from those of its name.
        image_size: side in pixels, or (height, width); multiples of 32.
        channels: number of channels of the images.
        num_classes: number of classes, at least 1.
        levels: (first, last) level of the pyramid; a level's cells are `2 ** level` pixels wide.
        filters: channels of the pyramid and of the heads.
        head_depth: convolutions of each head before its last one, 0 or more.
        scales, aspects, anchor_size: of the anchors, see `keras_vit.layers.anchors.anchor_boxes`.
        preprocessing: a `Preprocessing`; its image size is always the model's. None stands for
            that of the backbone, with the whole picture squashed to the model's size.

    Raises:
        ValueError: for sizes that do not fit one another, or names that do not exist.
    """

    backbone: str = "swin_t"
    backbone_fields: dict = dataclasses.field(default_factory=dict)
    image_size: tuple = (640, 640)
    channels: int = 3
    num_classes: int = 80
    levels: tuple = (3, 7)
    filters: int = 256
    head_depth: int = 4
    scales: int = 3
    aspects: tuple = (0.5, 1.0, 2.0)
    anchor_size: float = 4.0
    preprocessing: Preprocessing | None = None

    def __post_init__(self):
        fix = lambda name, value: object.__setattr__(self, name, value)  # noqa: E731
        check_choice("backbone", self.backbone, BACKBONES)
        double = sorted(set(self.backbone_fields) & set(OWN_FIELDS))
        if double:
            raise ValueError(
                f"`backbone_fields` must leave {double[0]!r} to the detector's own `{double[0]}`. "
                f"Received: {self.backbone_fields}."
            )
        # JSON has no tuples.
        taken = {
            name: tuple(value) if isinstance(value, list) else value
            for name, value in self.backbone_fields.items()
        }
        fix("backbone_fields", taken)
        fix("image_size", pair("image_size", self.image_size))
        fix("levels", tuple(self.levels))
        fix("aspects", tuple(float(aspect) for aspect in self.aspects))
        self._check()
        if self.preprocessing is None:
            _, fields = BACKBONES[self.backbone]
            base = fields.get("preprocessing") or Preprocessing(
                mean=(0.5,) * self.channels, std=(0.5,) * self.channels
            )
            whole = {"resize": "squash", "crop": 1.0, "interpolation": "bilinear"}
            fix("preprocessing", dataclasses.replace(base, probabilities="sigmoid", **whole))
        fix("preprocessing", fitted_preprocessing(self))
        fix("depth", self.backbone_config.depth)  # with the backbone's own rules

    def _check(self):
        """Checks the numbers."""
        for name in ("channels", "num_classes", "filters", "scales"):
            check_count(name, getattr(self, name))
        check_count("head_depth", self.head_depth, least=0)
        if any(side % MULTIPLE for side in self.image_size):
            raise ValueError(
                f"`image_size` must be multiples of {MULTIPLE}. Received: {self.image_size}."
            )
        if not 3 <= self.levels[0] <= 5 or not self.levels[0] <= self.levels[1] <= 7:
            raise ValueError(
                "`levels` must be two of 3 to 7, the first at most 5 and not above the last. "
                f"Received: {self.levels}."
            )
        if not self.aspects or min(self.aspects) <= 0 or self.anchor_size <= 0:
            raise ValueError(
                "`aspects` and `anchor_size` must be above 0. "
                f"Received: aspects={self.aspects}, anchor_size={self.anchor_size}."
            )

    @property
    def backbone_config(self):
        """The backbone's config, without a head."""
        family, fields = BACKBONES[self.backbone]
        own = {"image_size": self.image_size, "channels": self.channels}
        own |= {"num_classes": 0, "preprocessing": None}
        return family.config_class(**{**fields, **self.backbone_fields, **own})

    def named(self, class_names):
        """Returns the config with these classes."""
        preprocessing = dataclasses.replace(self.preprocessing, class_names=tuple(class_names))
        return dataclasses.replace(
            self, num_classes=len(preprocessing.class_names), preprocessing=preprocessing
        )

    @property
    def anchor_settings(self):
        """What `keras_vit.layers.anchors.anchor_boxes` takes."""
        return {
            "image_size": self.image_size,
            "levels": self.levels,
            "scales": self.scales,
            "aspects": self.aspects,
            "size": self.anchor_size,
        }


@keras.saving.register_keras_serializable(package="keras_vit")
class Detector(ImageModel):
    """Says of each anchor of an image what is there and where: see `keras_vit.layers.anchors`.

    The layers of the backbone keep their names, so that `take_backbone` fills them from a model of
    that architecture.

    Args:
        config: a `DetectorConfig`.
        name: the model's name.
        dtype: dtype or policy such as `"mixed_bfloat16"`; Keras's global policy by default.

    Call arguments:
        images: float images `[b, h, w, c]`, normalised as `model.preprocessing` says.
        training: whether the dropouts are on.

    Returns:
        A dict, float32 under a mixed policy: `deltas` `[b, n, 4]`, the way from each anchor to
        its box, and `logits` `[b, n, num_classes]`, whose sigmoid is the probability of each
        class.
    """

    config_class = DetectorConfig

    def __init__(self, config, name="detector", dtype=None, **kwargs):
        super().__init__(config, name=name, dtype=dtype, **kwargs)

    @property
    def anchors(self):
        """The anchors, float32 numpy `[n, 4]`, in the order of the outputs."""
        return anchor_boxes(**self.config.anchor_settings)

    def take_backbone(self, model):
        """Fills the backbone from a model of its architecture, of the same sizes.

        Args:
            model: such as `create_model("swin_t", weights=…, image_size=…)` gives.

        Raises:
            ValueError: if a weight of the backbone is not in the model, or of another shape.
        """
        found = {weight.path: weight for weight in model.weights}
        own = {weight.path: weight for weight in self.backbone_weights}
        wrong = [
            path
            for path, weight in own.items()
            if path not in found or found[path].shape != weight.shape
        ]
        if wrong:
            raise ValueError(
                f"`model` must be a {self.config.backbone} of the same sizes. Received: "
                f"{model.name}, without a {wrong[0]!r} of the shape {own[wrong[0]].shape}."
            )
        for path, weight in own.items():
            weight.assign(found[path])

    @property
    def backbone_weights(self):
        new = ("fpn", "level_", "pyramid_", "box_head", "class_head")
        return [weight for weight in self.weights if not weight.path.startswith(new)]

    @staticmethod
    def build_graph(config, policy):
        family, _ = BACKBONES[config.backbone]
        images, _, taps = family.build_graph(config.backbone_config, policy)
        pyramid = PYRAMIDS[family](taps, config, policy)
        classes = _head("class_head", config, config.num_classes, policy)
        boxes = _head("box_head", config, 4, policy)
        outputs = {
            "deltas": _joined("deltas", boxes, pyramid, 4, policy),
            "logits": _joined("logits", classes, pyramid, config.num_classes, policy),
        }
        return images, outputs, pyramid


def _of_swin(taps, config, policy):
    """KerasHub's feature pyramid on the maps of Swin's stages, each with a norm."""
    retinanet = require("keras_hub.src.models.retinanet.feature_pyramid", extra="detection")
    first, last = config.levels
    maps = {
        # Cells of stage 1 are 8 pixels wide.
        f"P{level}": LayerNorm(1e-5, name=f"level_{level}_norm", dtype=policy)(
            taps[f"stage_{level - 2}"]
        )
        for level in range(first, min(last, 5) + 1)
    }
    fpn = retinanet.FeaturePyramid(
        first, min(last, 5), use_p5=False, num_filters=config.filters, name="fpn", dtype=policy
    )
    pyramid = fpn(maps)
    for level in range(6, last + 1):
        x = pyramid[f"P{level - 1}"]
        if level > 6:
            x = keras.layers.Activation("relu", name=f"level_{level}_relu", dtype=policy)(x)
        pyramid[f"P{level}"] = keras.layers.Conv2D(
            config.filters, 3, 2, padding="same", name=f"level_{level}", dtype=policy
        )(x)
    return pyramid


def _of_vit(taps, config, policy):
    """A simple pyramid on the last map of a plain ViT."""
    backbone = config.backbone_config
    shape = (*patch_grid(backbone.image_size, backbone.patch_size), backbone.width)
    x = keras.layers.Reshape(shape, name="pyramid_map", dtype=policy)(taps["tokens"])
    level = int(math.log2(backbone.patch_size[0]))
    return simple_pyramid(x, config.levels, level, config.filters, policy)


# Model class of a backbone -> what makes the pyramid.
PYRAMIDS = {swin.Swin: _of_swin, vit.ViT: _of_vit}


def _head(name, config, size, policy):
    """KerasHub's head of so many numbers an anchor, shared by all levels."""
    retinanet = require("keras_hub.src.models.retinanet.prediction_head", extra="detection")
    return retinanet.PredictionHead(
        config.scales * len(config.aspects) * size,
        config.filters,
        config.head_depth,
        # Of the class head: at first every anchor is 1 % sure of each class.
        use_prior_probability=name == "class_head",
        kernel_initializer=keras.initializers.RandomNormal(stddev=0.01),
        name=name,
        dtype=policy,
    )


def _joined(name, head, pyramid, size, policy):
    """What a head says of all levels, `[b, n, size]`."""
    wide = keras.DTypePolicy(policy.variable_dtype)
    rows = [
        keras.layers.Reshape((-1, size), name=f"{name}_{level}", dtype=policy)(head(x))
        for level, x in pyramid.items()
    ]
    if len(rows) == 1:
        return keras.layers.Identity(name=name, dtype=wide)(rows[0])
    return keras.layers.Concatenate(axis=1, name=name, dtype=wide)(rows)
