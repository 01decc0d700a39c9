import urllib.request

import pytest

from keras_vit.export.web.browser import chromium, served


def test_a_folder_is_served_on_this_machine_alone(tmp_path):
    (tmp_path / "page.html").write_text("here")
    with served(tmp_path) as address:
        assert address.startswith("http://127.0.0.1:")
        with urllib.request.urlopen(f"{address}page.html") as answer:
            assert answer.read() == b"here"
    with pytest.raises(OSError):
        urllib.request.urlopen(f"{address}page.html")


@pytest.mark.prove
def test_the_remedy_where_there_is_no_browser(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(FileNotFoundError, match="apt install chromium chromium-driver"):
        with chromium():
            pass
