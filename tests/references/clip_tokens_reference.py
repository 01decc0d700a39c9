"""Writes what OpenCLIP's and transformers' tokenizers make of texts that are hard to cut.

Run in the environment of `tests/references/requirements.txt`, with open_clip_torch and ftfy:

    python tests/references/clip_tokens_reference.py [--out tests/fixtures/clip_tokens]

`merges.txt` holds the first 2,000 merges of the official vocabulary; `tokens.json` the texts, and
for each vocabulary and code the rows of tokens: `{"texts": [...], "official": {"open_clip": [...],
"transformers": [...]}, "small": {...}}`.
"""

import argparse
import json
import pathlib
import random
import sys
import unicodedata

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
from tests.references.vit_reference import import_timm  # noqa: E402

FIXTURES = pathlib.Path(__file__).resolve().parents[1] / "fixtures" / "clip_tokens"
SMALL, CONTEXT = 2000, 77
TEXTS = [
    "",
    " \t\n ",
    "a photo of a cat",
    "A  Photo\tOF a\nCAT!",
    "It's, I'm, we've, they're, he'll, she'd; don't",
    "rock'n'roll 'tis '90s o''clock",
    "12,345.67 items at 8:30, 3rd, x86-64",
    "&lt;b&gt;bold&lt;/b&gt; &amp;amp; &quot;quoted&quot; &#233;",
    "cafÃ© â€œcurlyâ€\x9d â€“ dash",
    "“curly” ‘quotes’ – dash — dots…",
    "naïve café, Zürich, Ångström, smörgåsbord, ﬁne ﬂour",
    "e\u0301 versus \u00e9; a\u0328\u0301",
    "日本語のテキスト 中文 한국어",
    "русский текст, ελληνικά ΟΔΟΣ, עברית, العربية, हिन्दी, ไทย",
    "🐱 a cat 👩‍👩‍👧‍👦 family 🇫🇷 flag 👍🏽",
    "½ ² Ⅷ ① ٣ 𝟘 numbers of other kinds",
    "𝕱𝖗𝖆𝖐𝖙𝖚𝖗 ｆｕｌｌｗｉｄｔｈ",
    "İstanbul DIYARBAKIR ẞ ß",
    "#hashtag @user http://example.com/a?b=c&d=e user@example.com",
    "snake_case camelCase kebab-case C++ C# <tag> [x] {y} (z) \\ / | ~ ^ `",
    "<start_of_text>a text that names the marks<end_of_text>",
    "supercalifragilisticexpialidocious pneumonoultramicroscopicsilicovolcanoconiosis",
    "zero\u200bwidth \u00a0 non-breaking \u2003 em \ufeff",
    "control \x00 \x07 \x1b[31m signs",
    "word " * 100,
    "long" * 200,
    "!" * 300,
    "🐱" * 60,
]


def corpus():
    """The texts above, and some of random signs."""
    random.seed(7)
    signs = [chr(code) for code in range(1, 0x30000)]
    # Assigned by Unicode 14 or before, which every release of Python here knows.
    signs = [sign for sign in signs if unicodedata.category(sign) not in ("Cn", "Co", "Cs")]
    plain = "abc 'strEDvlm019.,!?&;#<>_-\n\té"
    texts = list(TEXTS)
    for _ in range(60):
        count = random.randint(1, 25)
        share = random.choice((0.0, 0.2, 1.0))
        draws = (random.random() < share for _ in range(count))
        texts.append("".join(random.choice(signs if draw else plain) for draw in draws))
    return texts


def open_clip_rows(path, texts):
    from open_clip.tokenizer import SimpleTokenizer

    return SimpleTokenizer(path)(texts, CONTEXT).tolist()


def transformers_rows(path, texts):
    import gzip

    import transformers
    from open_clip.tokenizer import SimpleTokenizer

    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else open(path)
    with opened as file:
        lines = file.read().split("\n")[1 : 49152 - 256 - 2 + 1]
    merges = [tuple(line.split()) for line in lines if line]
    vocabulary = dict(SimpleTokenizer(str(_gzipped(path))).encoder)
    for ours, theirs in (("start_of_text", "startoftext"), ("end_of_text", "endoftext")):
        vocabulary[f"<|{theirs}|>"] = vocabulary.pop(f"<{ours}>")
    tokenizer = transformers.CLIPTokenizer(vocab=vocabulary, merges=merges)
    rows = tokenizer(texts, truncation=True, max_length=CONTEXT)["input_ids"]
    return [row + [0] * (CONTEXT - len(row)) for row in rows]


def _gzipped(path):
    """OpenCLIP reads gzipped files only."""
    import gzip
    import tempfile

    if path.suffix == ".gz":
        return path
    packed = pathlib.Path(tempfile.mkdtemp()) / "merges.txt.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    return packed


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=FIXTURES)
    out = parser.parse_args().out
    import_timm()
    import gzip

    from open_clip.tokenizer import default_bpe

    official = pathlib.Path(default_bpe())
    out.mkdir(parents=True, exist_ok=True)
    small = out / "merges.txt"
    with gzip.open(official, "rt", encoding="utf-8") as file:
        small.write_text("".join(next(file) for _ in range(1 + SMALL)).rstrip("\n"), "utf-8")
    texts = corpus()
    found = {"texts": texts}
    for name, path in (("official", official), ("small", small)):
        found[name] = {
            "open_clip": open_clip_rows(str(_gzipped(path)), texts),
            "transformers": transformers_rows(path, texts),
        }
    text = json.dumps(found, ensure_ascii=True, separators=(",", ":"))
    (out / "tokens.json").write_text(text + "\n", "utf-8")


if __name__ == "__main__":
    main()
