"""A model on a page."""

from keras_vit.export.web.page import write_page

__all__ = ["write_page"]
