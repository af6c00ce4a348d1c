"""Sphinx: ``make docs`` builds these pages into docs/_build/html, gallery included, without warnings."""

from __future__ import annotations

import warnings
from pathlib import Path

import mercer

ROOT = Path(__file__).resolve().parents[1]

project = "mercer"
author = "the mercer developers"
release = version = mercer.__version__
extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx.ext.viewcode",
    "sphinx-mathjax-offline",  # the formulas show without a network
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery/*.ipynb", "gallery/*.py", "gallery/*.md5", "images/*.py"]
templates_path = ["_templates"]
html_theme = "furo"
html_title = f"mercer {release}"
html_static_path = ["_static"]
html_css_files = ["mercer.css"]
html_show_sphinx = False
html_show_copyright = False
pygments_dark_style = "github-dark"  # the default one underlines the names of modules like links

myst_enable_extensions = ["deflist", "dollarmath", "amsmath"]
myst_fence_as_directive = ["math"]
myst_heading_anchors = 3

autosummary_generate = True
autosummary_ignore_module_all = False  # what a module exports is what its page lists
autosummary_imported_members = True
autodoc_typehints = "none"  # numpydoc's sections say it in words
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": str(ROOT / "examples" / "gallery"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"plot_",
    "abort_on_example_error": True,
    "remove_config_comments": True,
    "show_memory": False,
    "write_computation_times": False,  # a page nobody looks for, which would load scripts from the network
    "download_all_examples": False,
    "min_reported_time": 3600,  # how long a script took on one machine is of no use on another
    "image_srcset": ["2x"],  # sharp on fine screens
    "within_subsection_order": "FileNameSortKey",
}

# The gallery runs the library: a warning there is an error, as in the tests.
warnings.filterwarnings("error", category=FutureWarning, module="mercer")
