"""Versions come and go."""

import shutil
import threading

import pytest

from keras_vit.export.server.errors import Refused
from keras_vit.export.server.logs import Log
from keras_vit.export.server.metrics import Metrics
from keras_vit.export.server.models import AVAILABLE, END, Models
from keras_vit.export.server.rules import All, Specific
from keras_vit.export.server.settings import Settings
from tests.export.server.toys import Lines


@pytest.fixture
def make(models):
    made = []

    def make(**settings):
        lines = Lines()
        made.append(Models(Settings(models, **settings), Log(lines), Metrics()))
        made[-1].lines = lines
        made[-1].look()
        return made[-1]

    yield make
    for one in made:
        one.stop()


def numbers(models, name="toy"):
    return [number for number, status in models.status(name).items() if status.state == AVAILABLE]


def current(models):
    with models.use("toy") as loaded:
        return loaded.number


def look_twice(served):
    """A new version is loaded once its files have stayed as they are for a while."""
    served.look()
    served.look()


def test_a_new_version_takes_over(make, models, other_model):
    served = make()
    assert served.is_ready and served.names == ["toy"] and current(served) == 1
    shutil.copytree(other_model, models / "toy" / "2")
    served.look()
    assert current(served) == 1  # its files may still be coming
    served.look()
    assert current(served) == 2 and numbers(served) == [2]
    for thread in served._leaving:
        thread.join(30)
    assert served.status("toy")[1].state == END


def test_the_old_version_stays_until_its_last_request_ends(make, models, other_model):
    served = make()
    shutil.copytree(other_model, models / "toy" / "2")
    with served.use("toy") as old:
        look_twice(served)
        assert current(served) == 2
        assert served.status("toy")[1].state == "UNLOADING" and old.runner is not None
        old.batcher.enter()
        old.batcher.leave()
    for thread in served._leaving:
        thread.join(30)
    assert old.runner is None
    with pytest.raises(Refused, match=r"Specific\(toy, 1\)"), served.use("toy", 1):
        pass


def test_older_versions_are_kept_as_asked(make, models, other_model):
    for number in (2, 3):
        shutil.copytree(other_model, models / "toy" / str(number))
    served = make(versions=2)
    assert numbers(served) == [3, 2] and current(served) == 3
    with served.use("toy", 2) as loaded:
        assert loaded.number == 2


def test_a_corrupt_version_is_passed_over_with_an_alarm(make, models, other_model):
    served = make()
    graph = (other_model / "saved_model.pb").read_bytes()
    broken = models / "toy" / "2"
    broken.mkdir()
    (broken / "saved_model.pb").write_bytes(graph[: len(graph) // 2])
    look_twice(served)
    assert current(served) == 1 and numbers(served) == [1]
    status = served.status("toy", 2)[2]
    assert status.state == END and "damaged" in status.error
    served.look()  # it is not tried again as long as it stays as it is
    (alarm,) = served.lines.of("version_cannot_be_loaded")
    assert alarm["level"] == "error" and alarm["version"] == 2
    assert b'load_failures_total{model="toy"} 1.0' in served.metrics.text()[0]
    shutil.rmtree(broken)
    shutil.copytree(other_model, broken)  # mended
    look_twice(served)
    assert current(served) == 2


def test_a_link_that_leads_out_is_not_read(make, models, other_model):
    served = make()
    (models / "toy" / "2").symlink_to(other_model)
    look_twice(served)
    assert current(served) == 1 and "leads out" in served.status("toy")[2].error


def test_a_missing_file_of_weights_and_a_folder_without_model(make, models, other_model):
    served = make()
    shutil.copytree(other_model, models / "toy" / "2")
    shutil.rmtree(models / "toy" / "2" / "variables")
    (models / "toy" / "3").mkdir()
    look_twice(served)
    assert current(served) == 1
    assert served.status("toy")[2].error and served.status("toy")[3].error


def test_a_new_model_and_a_model_that_goes(make, models, other_model):
    served = make()
    shutil.copytree(other_model, models / "net" / "7")
    look_twice(served)
    assert served.names == ["net", "toy"]
    shutil.rmtree(models / "net")
    served.look()
    assert served.names == ["net", "toy"]  # the last version stays: nobody wants an outage


def test_what_there_is_not(make):
    served = make()
    with pytest.raises(Refused, match=r"Latest\(net\)"), served.use("net"):
        pass
    with pytest.raises(Refused, match=r"Specific\(toy, 9\)"), served.use("toy", 9):
        pass
    with pytest.raises(Refused, match="label: new"), served.use("toy", label="new"):
        pass
    with pytest.raises(Refused, match="any versions of model net$"):
        served.status("net")
    with pytest.raises(Refused, match="any versions of model toy with version 9"):
        served.status("toy", 9)


def test_rules_and_labels(make, models, other_model):
    for number in (2, 3):
        shutil.copytree(other_model, models / "toy" / str(number))
    served = make()
    served.rules = {"toy": All({"stable": 1})}
    served.look()
    assert numbers(served) == [3, 2, 1]
    with served.use("toy", label="stable") as loaded:
        assert loaded.number == 1
    served.rules = {"toy": Specific((2,))}
    served.look()
    assert numbers(served) == [2]
    served.rules = {"net": All()}
    served.look()
    assert served.names == []


def test_watching_survives_a_folder_that_is_gone(make, models):
    served = make(poll_s=0.01)
    moved = models.with_name("moved")
    models.rename(moved)
    thread = threading.Thread(target=served.watch)
    thread.start()
    try:
        while not served.lines.of("folder_unreadable"):
            pass
        assert current(served) == 1
    finally:
        served._stopped.set()
        thread.join(30)
