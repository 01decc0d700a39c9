"""Fills a model with weights of another code: strictly, all or nothing, with a report."""

import dataclasses
import re

import keras
import numpy as np

from keras_vit.weights.conventions import differences
from keras_vit.weights.fitting import (
    fit_kernel,
    fit_offsets,
    fit_positions,
    fit_prefix,
    fit_time,
)
from keras_vit.weights.report import Report
from keras_vit.weights.resample import OFFSET_RESIZES, RESIZES, resize_named

# What a CLIP's paths have before those of an image model.
IMAGE = "image/"
CLASS_TOKEN, REGISTERS = "patch_encoder/class_token", "patch_encoder/registers"
POSITION, KERNEL = "patch_encoder/position", "patch_encoder/projection/kernel"
TIME = "patch_encoder/time"
HEADS = r"head(_distillation)?/.*"
# Which field of the config decides whether a weight exists.
DECIDED_BY = (
    (CLASS_TOKEN, "class_token"),
    (REGISTERS, "registers"),
    (POSITION, "position"),
    (r"block_\d+/attention/relative_bias", "position"),
    (r"block_\d+/attention/directions", "attention"),
    (r"block_\d+/scale[12]/.*", "layer_scale"),
    (r"(pool|norm)/.*", "pooling"),
    (r"representation/.*", "representation_size"),
)


def fill(model, checkpoint, new_head=False, resize=None, accept=()):
    """Fills a model from an opened checkpoint whose conventions have been checked.

    Args:
        model: a model with a `config`.
        checkpoint: a `Checkpoint`.
        new_head: whether a head of another number of classes stays at its start values.
        resize: how positions are resized, one of `RESIZES`; the source's own way by default.
        accept: fields of the config that were asked to differ from the checkpoint's.

    Returns:
        A `Report`.

    Raises:
        ValueError: if an array or a weight is left over, has another shape, is damaged or not
            finite. The model is then as it was.
    """
    filling = _Filling(model, checkpoint, new_head, resize, accept)
    staged = filling.stage()
    for variable in model.weights:
        if variable.path in staged:
            # Freed one by one: at no time is there more than one copy beside the model.
            variable.assign(staged.pop(variable.path))
    model.weights_report = filling.report()
    return model.weights_report


class _Filling:
    """One filling under way: what was found, and what is left."""

    def __init__(self, model, checkpoint, new_head, resize, accept):
        self.config = model.config
        self.variables = {v.path: v for v in model.weights if "float" in v.dtype}
        self.checkpoint, self.archive = checkpoint, checkpoint.archive
        self.origin = checkpoint.archive.origin
        self.new_head, self.accept = new_head, accept
        self.resize = resize or checkpoint.source.position_resize
        offsets = getattr(self.config, "bias_grids", None)
        # An unknown one is an error even where nothing is resized.
        resize_named(self.resize, OFFSET_RESIZES if offsets else RESIZES)
        self.filled, self.new, self.unused, self.notes = {}, {}, {}, []

    def report(self):
        found = differences(self.config, self.checkpoint.fields)
        asked = [
            f"{field} is {ours!r}, as asked; the file's is {theirs!r}."
            for field, (ours, theirs) in found.items()
            if field in self.accept
        ]
        notes, name = (*self.notes, *asked), self.checkpoint.source_name
        return Report(self.origin, name, self.filled, self.new, self.unused, notes)

    def stage(self):
        """Reads and checks everything; returns weight path -> array."""
        self._leave_new_head()
        chosen, missing = {}, []
        for entry in self.checkpoint.table.entries(self.config):
            option, reason = entry.found_in(self.archive), self._reason_new(entry.ours)
            if entry.ours in self.new:
                continue
            if option is not None:
                chosen[entry.ours] = option
            elif reason:
                self.new[entry.ours] = reason
            else:
                missing.append((entry.ours, entry.options[0][0]))
        self._require_complete(chosen, missing)
        self._account_for_unused(chosen)
        # One kind of weight of all blocks, then the next: a stack of all blocks is read once.
        order = sorted(chosen, key=lambda path: re.sub(r"^block_\d+", "block", path))
        staged = {path: self._value(path, *chosen[path]) for path in order}
        self.filled = {path: self.filled[path] for path in chosen}
        return staged

    def _leave_new_head(self):
        ours, theirs = self.config.num_classes, self.checkpoint.fields.get("num_classes", 0)
        if ours == theirs or not ours:
            return
        told = f"{ours} classes, where the file has {theirs or 'no head'}"
        if not self.new_head:
            raise ValueError(
                f"{self.origin}: the model's head has {told}. To keep it, pass `new_head=True`."
            )
        self.notes.append(f"The head is new: {told}.")
        self.new |= {path: told for path in self.variables if re.fullmatch(HEADS, path)}

    def _reason_new(self, path):
        for pattern, field in DECIDED_BY:
            if re.fullmatch(pattern, path) and field in self.accept:
                return f"`{field}` was asked to differ from the file's"
        return None

    def _require_complete(self, chosen, missing):
        if missing:
            path, names = missing[0]
            raise ValueError(
                f"{self.origin} lacks {len(missing)} of the model's weights; the first is {path}, "
                f"which would be {' and '.join(names)}."
            )
        strangers = [path for path in chosen if path not in self.variables]
        if strangers:
            raise ValueError(
                f"Weights are loaded into floats. The model's {strangers[0]} is none: load before "
                "the model is quantised."
            )
        absent = [path for path in self.variables if path not in {*chosen, *self.new}]
        reasons = {path: self._reason_new(path) for path in absent}
        self.new |= {path: reason for path, reason in reasons.items() if reason}
        lost = [path for path, reason in reasons.items() if not reason]
        if lost:
            raise ValueError(
                f"The format {self.checkpoint.source_name!r} has no name for {len(lost)} of the "
                f"model's weights; the first is {lost[0]}."
            )

    def _account_for_unused(self, chosen):
        used = {name for names, _ in chosen.values() for name in names}
        places, strays = self._places_in_the_files_own_model(), []
        for name in sorted(set(self.archive.shapes) - used):
            reason = self.checkpoint.table.reason_unused(name) or places.get(name)
            if reason:
                self.unused[name] = reason
            else:
                strays.append(name)
        if strays:
            raise ValueError(
                f"{self.origin} holds {len(strays)} arrays that this model has no place for: "
                f"{', '.join(strays[:5])}{' …' if len(strays) > 5 else ''}."
            )

    def _places_in_the_files_own_model(self):
        """Arrays that the file's own model would use and this one, by request, does not."""
        own = self._own_config()
        if own.num_classes == self.config.num_classes and not self.accept:
            return {}
        reason = "this model was asked to do without it"
        entries = self.checkpoint.table.entries(own)
        return {name: reason for entry in entries for names, _ in entry.options for name in names}

    def _own_config(self):
        """The config of the model that the file would fill without a rest."""
        fields = {**self.checkpoint.fields, "preprocessing": None}
        if "position" in fields:
            # No name depends on the image size; the model's may not fit the file's patches.
            fields["image_size"] = fields["patch_size"]
        return dataclasses.replace(self.config, **fields)

    def _value(self, path, names, layout):
        """One weight's new value, checked and at the model's size."""
        arrays = [self._read(name) for name in names]
        try:
            value, note = self._fitted(path, layout.to_ours(*arrays))
        except (ValueError, IndexError) as error:
            shapes = self._shapes(names)
            raise ValueError(f"{self.origin}: {shapes} gives no {path}: {error}") from error
        variable = self.variables[path]
        if value.shape != tuple(variable.shape):
            raise ValueError(
                f"{self.origin}: {self._shapes(names)} does not fit {path}, whose shape is "
                f"{tuple(variable.shape)}."
            )
        if path == "head/kernel" and not value.any():
            self.notes.append("The head is all zeros in the file: it knows no classes.")
        self.filled[path] = (names, value.shape, note)
        # Not `ascontiguousarray`, which gives a single number an axis.
        return np.asarray(value, keras.backend.standardize_dtype(variable.dtype), order="C")

    def _fitted(self, path, value):
        """The value at the model's size, and what was done for that."""
        path = path.removeprefix(IMAGE)
        grids = getattr(self.config, "bias_grids", {})
        if path in grids:
            theirs = self._own_config().bias_grids[path]
            return fit_offsets(value, theirs, grids[path], self.resize)
        if path == POSITION:
            return fit_positions(value, self.config, self.checkpoint, self.resize)
        if path == TIME:
            return fit_time(value, self.config.frames, self.resize)
        if path == KERNEL:
            return fit_kernel(value, self.config, self.checkpoint.source.patch_resize)
        if path in (CLASS_TOKEN, REGISTERS):
            first = 0 if path == CLASS_TOKEN else int(self.checkpoint.fields["class_token"])
            rows = self.checkpoint.position_rows
            return fit_prefix(value, first, self._position_table(), self.config, rows)
        return value, ""

    def _position_table(self):
        for entry in self.checkpoint.table.entries(self._own_config()):
            if entry.ours == POSITION and getattr(self.config, "position", "learned") == "learned":
                return self._read(entry.found_in(self.archive)[0][0])
        return None

    def _read(self, name):
        array = self.archive.read(name)
        if array.dtype.kind != "f":
            raise ValueError(f"{self.origin}: {name!r} holds {array.dtype}, not floats.")
        finite = np.isfinite(array)
        if not finite.all():
            count = array.size - finite.sum()
            raise ValueError(f"{self.origin}: {name!r} holds {count} values that are not finite.")
        return array

    def _shapes(self, names):
        return " and ".join(f"{name!r} {self.archive.shapes[name]}" for name in names)
