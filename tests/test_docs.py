"""The code of the README and of the docs runs as written, and prints what the page says.

The `python` blocks of a page run in order, in one namespace. A `text` block right after one
is what it prints. Blocks in other languages are not run.
"""

import contextlib
import io
import re
from pathlib import Path

import pytest

import mercer as mc
from mercer.kernels.text import LEAVES

ROOT = Path(__file__).parents[1]
TEXTS = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/*.md"), *ROOT.glob("docs/lectures/*.md")])
PAGES = [page for page in TEXTS if "```python" in page.read_text(encoding="utf-8")]
FENCE = re.compile(r"^```(\w*)[^\n]*\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(text):
    """Yield (first line, code, what it prints or None) for each python block of a page."""
    found = list(FENCE.finditer(text))
    for block, after in zip(found, [*found[1:], None], strict=True):
        if block[1] != "python":
            continue
        between = text[block.end() : after.start()].strip() if after else "the end"
        promised = after[2] if after and after[1] == "text" and not between else None
        yield text.count("\n", 0, block.start(2)), block[2], promised


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_code_of_a_page_runs(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    namespace = {"__name__": "page"}
    for line, code, promised in blocks(page.read_text(encoding="utf-8")):
        printed = io.StringIO()
        # The empty lines before it make a traceback point at the line of the page.
        program = compile("\n" * line + code, str(page), "exec")
        with contextlib.redirect_stdout(printed):
            exec(program, namespace)
        if promised is not None:
            assert printed.getvalue().rstrip() == promised.rstrip(), f"{page}:{line}"


def test_the_front_page_is_among_them():
    assert ROOT / "README.md" in PAGES


def test_blocks_are_told_apart():
    page = "```python\nprint(1)\n```\n\n```text\n1\n```\n```sh\nls\n```\n```python\n2\n```\n"
    assert list(blocks(page)) == [(1, "print(1)\n", "1\n"), (11, "2\n", None)]


@pytest.mark.parametrize("page", TEXTS, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_speaks_of_names_that_exist(page):
    text = page.read_text(encoding="utf-8")
    said = re.sub(r"^ *>>>.*$", "", text, flags=re.MULTILINE)  # a docstring to be written
    unknown = {name for name in re.findall(r"\bmc\.(\w+)", said) if not hasattr(mc, name)}
    assert not unknown


def test_the_front_page_names_every_kernel():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    names = {kernel.__name__ for kernel in LEAVES.values()}
    assert not {name for name in names if f"`{name}`" not in text}


@pytest.mark.parametrize("name", mc.__all__)
def test_a_public_name_has_a_docstring(name):
    # A dataclass without one is given its signature instead.
    text = getattr(mc, name).__doc__ or ""
    assert text
    assert not text.startswith(f"{name}(")
