"""What a model looks at in a picture."""

from keras_vit.explain.overlay import overlay, rgb, visible_part
from keras_vit.explain.rollout import attention_rollout, rollout

__all__ = ["attention_rollout", "overlay", "rgb", "rollout", "visible_part"]
