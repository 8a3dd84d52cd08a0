"""The documentation: pages in Markdown, the API from the docstrings, pictures from examples."""

from __future__ import annotations

import re
from importlib.metadata import version as installed
from pathlib import Path
from typing import Any

import mercer as mc
from mercer import plots, problems, testing

project = "mercer"
author = copyright = "the mercer developers"
release = version = installed("mercer")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "_templates", "gallery/**/*.ipynb", "sg_execution_times.rst"]
templates_path = ["_templates"]
default_role = "code"  # `name` means the same in a docstring and in Markdown

html_theme = "furo"
html_title = f"mercer {release}"
html_show_sphinx = False
html_theme_options = {  # a line of code, 96 characters, fits on the page
    f"{mode}_css_variables": {"code-font-size": "76%"} for mode in ("light", "dark")
}

myst_enable_extensions = ["amsmath", "colon_fence", "dollarmath"]
myst_heading_anchors = 3

# The API is what each package lists in __all__, wherever it is written.
autosummary_generate = True
autosummary_ignore_module_all = False
autosummary_imported_members = True
autoclass_content = "class"
autodoc_member_order = "bysource"
autodoc_typehints_format = "short"
autodoc_inherit_docstrings = False  # what fulfils a contract is told where the contract is
autodoc_type_aliases = {name: name for name in ("Array", "Indices", "Lengths", "Matrix")}
autodoc_type_aliases |= {name: name for name in ("Points", "Reals", "Slice")}
napoleon_numpy_docstring = False
napoleon_use_rtype = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "abort_on_example_error": True,
    "download_all_examples": False,
    "image_srcset": ["2x"],
    "plot_gallery": True,
    "remove_config_comments": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
}

FORMULA = re.compile(r"(?P<display>\$\$(.+?)\$\$)|(?P<inline>\$([^$]+?)\$)", re.DOTALL)
KEPT = r"``.+?``|`[^`]+`|\$\$.+?\$\$|\$[^$]+?\$"
BAR = re.compile(rf"(?P<kept>{KEPT})|\|", re.DOTALL)


def formulas(text: str) -> str:
    r"""Write the formulas of a docstring, $x$ or $$x$$ on lines of its own, as reStructuredText
    wants them.
    """

    def role(match: re.Match[str]) -> str:
        start = text.rfind("\n", 0, match.start()) + 1
        indent = text[start : match.start()]
        if match["inline"] or indent.strip():
            glue = r"\ " if text[match.end() : match.end() + 1].isalnum() else ""
            return f":math:`{' '.join((match[2] or match[4]).split())}`{glue}"
        body = f"\n{indent}    ".join(line.strip() for line in match[2].strip().splitlines())
        return f"\n\n{indent}.. math::\n\n{indent}    {body}\n\n{indent}"

    return FORMULA.sub(role, text)


def bars(text: str) -> str:
    """Escape the bars of |x| outside formulas, code and sessions: they mean themselves."""
    paragraphs = re.split(r"(\n\s*\n)", text)
    return "".join(
        part if ">>>" in part else BAR.sub(lambda found: found["kept"] or r"\|", part)
        for part in paragraphs
    )


def on_docstring(
    _app: Any, _what: str, _name: str, _obj: Any, _options: Any, lines: list[str]
) -> None:
    """Rewrite the formulas before anything else reads the docstring."""
    lines[:] = formulas(bars("\n".join(lines))).split("\n")


ALIAS = re.compile(r"TypeAliasForwardRef\('(\w+)'\)")


def on_signature(
    _app: Any, _what: str, _name: str, _obj: Any, _options: Any, *signature: str | None
) -> tuple[str | None, ...]:
    """Write `Array | None` where Sphinx writes how it keeps the name of an alias."""
    return tuple(part and ALIAS.sub(r"\1", part) for part in signature)


ROUTING = re.compile(r"set_\w+_request")

AUTHORS = (Path(__file__).parent / "authors.md").read_text(encoding="utf-8")
SHOWN = set(re.findall(r"^   [a-z_.]+\.(\w+)$", AUTHORS, re.MULTILINE)).union(
    mc.__all__,
    vars(mc.errors),
    *(part.__all__ for part in (mc.domains, plots, problems, testing)),
)


def on_bases(_app: Any, _name: str, _obj: Any, _options: Any, bases: list[Any]) -> None:
    """Name the nearest base that has a page: those between are told in the source alone."""
    bases[:] = [next(filter(has_page, base.__mro__), base) for base in bases]


def has_page(base: type) -> bool:
    """Whether a class is told on a page, here or in another library."""
    return base.__name__ in SHOWN or base.__module__.split(".")[0] != "mercer"


def on_member(
    _app: Any, _what: str, name: str, _obj: Any, _skip: bool, _options: Any
) -> bool | None:
    """Leave out what scikit-learn gives each estimator to route metadata: it is told there."""
    return True if ROUTING.fullmatch(name) else None


def on_missing_reference(_app: Any, _env: Any, node: Any, content: Any) -> Any:
    """Leave names of other libraries as they are; names of mercer must lead somewhere."""
    target = node.get("reftarget", "")
    ours = target.split(".")[0] == "mercer"
    return None if ours or node.get("refdomain") != "py" else content


def setup(app: Any) -> None:
    """Sphinx calls this."""
    app.connect("autodoc-process-docstring", on_docstring, priority=100)
    app.connect("autodoc-process-signature", on_signature)
    app.connect("autodoc-process-bases", on_bases)
    app.connect("autodoc-skip-member", on_member)
    app.connect("missing-reference", on_missing_reference)
