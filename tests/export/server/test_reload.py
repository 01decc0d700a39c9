"""Other rules for models and versions."""

import pytest
from google.protobuf import text_format
from tensorflow_serving.config import model_server_config_pb2

from keras_vit.export.server.errors import Refused
from keras_vit.export.server.reload import rules_of
from keras_vit.export.server.rules import All, Latest, Specific


def config(text):
    return text_format.Parse(text, model_server_config_pb2.ModelServerConfig())


def listed(text):
    return config("model_config_list { config { name: 'toy' " + text + " } }")


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        ("", Latest(3)),
        ("model_version_policy { latest { num_versions: 2 } }", Latest(2)),
        ("model_version_policy { latest { } }", Latest(3)),
        ("model_version_policy { all { } }", All()),
        ("model_version_policy { specific { versions: 4 versions: 2 } }", Specific((4, 2))),
        ("version_labels { key: 'stable' value: 4 }", Latest(3, {"stable": 4})),
    ],
)
def test_rules(models, text, rule):
    assert rules_of(listed(text), models, 3) == {"toy": rule}


def test_the_path_must_be_the_models_own(models):
    for path in (models / "toy", models / "toy" / ".." / "toy"):
        assert rules_of(listed(f"base_path: '{path}'"), models, 1)
    for path in ("/etc", models, models / "toy" / ".."):
        with pytest.raises(Refused, match="base_path"):
            rules_of(listed(f"base_path: '{path}'"), models, 1)


def test_other_configs(models):
    with pytest.raises(Refused, match="no model net in the served folder, which holds toy"):
        rules_of(config("model_config_list { config { name: 'net' } }"), models, 1)
    with pytest.raises(Refused, match="must have a model_config_list"):
        rules_of(config(""), models, 1)
    assert rules_of(config("model_config_list { }"), models, 1) == {}
