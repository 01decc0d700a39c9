from keras_vit.export.parity import Row
from keras_vit.export.parity_page import write_page


def test_the_page(tmp_path):
    rows = [Row("keras", 1.0, 0.0, 2.0, 1000, 0.5), Row("<npu>", reason="no & no")]
    write_page(tmp_path / "page.html", "a & b", rows, 7)
    text = (tmp_path / "page.html").read_text()
    assert "a &amp; b" in text and "&lt;npu&gt;</strong>: no &amp; no" in text
    assert "7 pictures" in text and "width:100.0%" in text and "$" not in text
