"""HandleReloadConfigRequest: which models and versions are served, changed while running."""

from pathlib import Path

from keras_vit.export.server import folders
from keras_vit.export.server.errors import Refused
from keras_vit.export.server.rules import All, Latest, Specific


def rules_of(config, folder, default):
    """Returns the rules that a `ModelServerConfig` states.

    Args:
        config: the message; its models must lie in the served folder.
        folder: that folder.
        default: how many versions are served where the config does not say.

    Returns:
        dict of model name to rule.

    Raises:
        Refused: for another kind of config, or a model that is not in the folder.
    """
    if config.WhichOneof("config") != "model_config_list":
        raise Refused("INVALID_ARGUMENT", "The config must have a model_config_list.")
    disk = folders.found(folder)
    rules = {}
    for model in config.model_config_list.config:
        if model.name not in disk:
            known = ", ".join(sorted(disk)) or "nothing"
            raise Refused(
                "INVALID_ARGUMENT",
                f"There is no model {model.name} in the served folder, which holds {known}.",
            )
        _check_path(model.base_path, disk[model.name])
        rules[model.name] = _rule(model, default)
    return rules


def _check_path(base_path, versions):
    """A model is served from where it lies; a path that says otherwise is refused."""
    version = next(iter(versions.values())).resolve()
    if base_path and Path(base_path).resolve() not in (version, version.parent):
        raise Refused("INVALID_ARGUMENT", "base_path must be the model's folder, as it is served.")


def _rule(model, default):
    policy = model.model_version_policy
    labels = dict(model.version_labels)
    kind = policy.WhichOneof("policy_choice")
    if kind == "specific":
        return Specific(tuple(policy.specific.versions), labels)
    if kind == "all":
        return All(labels)
    return Latest(policy.latest.num_versions or default if kind else default, labels)
