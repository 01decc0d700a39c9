from keras_vit.models import DetectorConfig
from keras_vit.training.recipes.detection import RECIPES


def test_the_backbone_starts_as_the_paper_says():
    chosen = RECIPES["detection"]
    config = DetectorConfig(backbone=chosen.model, **chosen.config)
    assert config.backbone_config.drop_path == 0.2
    assert (chosen.learning_rate, chosen.weight_decay) == (1e-4, 0.05)
