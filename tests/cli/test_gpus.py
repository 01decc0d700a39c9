import tensorflow as tf

from keras_vit.cli import gpus


def test_the_longer_name_is_not_taken_for_the_shorter():
    assert gpus.peak("NVIDIA L40S") == 362e12
    assert gpus.peak("NVIDIA L4") == 121e12
    assert gpus.peak("A card of tomorrow") is None


def test_utilisation_is_known_where_the_peak_is():
    assert gpus.utilisation(1e12, 1.0, "Tesla V100-SXM2") == "0.8 %"
    assert gpus.utilisation(1e12, 1.0, "A card of tomorrow") == ""
    assert gpus.utilisation(1e12, 1.0, None) == ""


def test_the_name_is_that_of_the_device(monkeypatch):
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: [])
    assert gpus.gpu_name() is None
    monkeypatch.setattr(tf.config, "list_physical_devices", lambda kind: ["a device"])
    details = {"device_name": "NVIDIA H200"}
    monkeypatch.setattr(tf.config.experimental, "get_device_details", lambda device: details)
    assert gpus.gpu_name() == "NVIDIA H200"
