"""Training of the tokenizer."""

from celosia.lab.training.tokens import train_tokenizer
from celosia.sw.reference.language.tokenizer import END

TEXTS = ["Return the value of the element.", "Return the list of the elements."] * 3


def test_it_learns_what_occurs_often_and_has_every_byte(tmp_path):
    tokenizer = train_tokenizer(TEXTS, 300, tmp_path / "t.json")
    assert tokenizer.size <= 300
    assert len(tokenizer.encode("Return the")) <= 3
    text = "".join(map(chr, range(1, 512)))
    tokens = tokenizer.encode(text)
    assert END not in tokens
    assert "".join(tokenizer.pieces(iter(tokens))) == text


def test_the_same_texts_give_the_same_file(tmp_path):
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    for path in files:
        train_tokenizer(iter(TEXTS), 290, path)
    assert files[0].read_bytes() == files[1].read_bytes()
