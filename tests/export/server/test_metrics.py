"""What Prometheus reads."""

from prometheus_client.parser import text_string_to_metric_families

from keras_vit.export.server.metrics import Metrics


def samples(metrics):
    text, kind = metrics.text()
    assert kind.startswith("text/plain")
    return {
        (sample.name, *sorted(sample.labels.values())): sample.value
        for family in text_string_to_metric_families(text.decode())
        for sample in family.samples
    }


def test_what_is_counted():
    metrics = Metrics()
    metrics.observer("net", 3)(5, 2, 0.25, 0.5)
    metrics.state("net", 3, "LOADING")
    metrics.state("net", 3, "AVAILABLE")
    metrics.load_failed("net")
    with metrics.loading("net") as seconds:
        assert seconds() >= 0
    found = samples(metrics)
    assert found["keras_vit_batch_rows_sum", "3", "net"] == 5
    assert found["keras_vit_batch_wait_seconds_sum", "3", "net"] == 0.25
    assert found["keras_vit_batch_run_seconds_sum", "3", "net"] == 0.5
    assert found["keras_vit_version_state", "3", "AVAILABLE", "net"] == 1
    assert found["keras_vit_version_state", "3", "LOADING", "net"] == 0
    assert found["keras_vit_load_failures_total", "net"] == 1
    assert found["process_resident_memory_bytes",] > 0


def test_two_servers_count_apart():
    first, second = Metrics(), Metrics()
    first.load_failed("net")
    assert ("keras_vit_load_failures_total", "net") not in samples(second)
