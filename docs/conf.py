"""Sphinx settings of the documentation site, which `python3 dev.py docs` builds."""

import os
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).parent), str(Path(__file__).parents[1])]

import kerascope  # noqa: E402

project = "kerascope"
author = "kerascope contributors"
copyright = "kerascope contributors"
version = release = kerascope.__version__
# Where the site is served, such as https://user.github.io/kerascope; "" for a local build.
html_baseurl = os.environ.get("KERASCOPE_DOCS_URL", "").rstrip("/")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.viewcode",
    "numpydoc",
    "sphinx_design",
    "sphinx_copybutton",
    "site_pages",  # docs/site_pages.py: the pages of the API, and the course
]
suppress_warnings = ["ref.citation"]  # "References" list papers that no sentence cites

# --- Markdown
myst_enable_extensions = ["html_image", "colon_fence"]
myst_heading_anchors = 4

# --- docstrings: `name` is a link if it is a public name, otherwise code
default_role = "py:obj"
autodoc_typehints = "none"
autodoc_member_order = "bysource"
numpydoc_show_class_members = False

# --- HTML
copybutton_prompt_text = r">>> |\.\.\. |\$ |\((?:Kdb|Pdb)\) "
copybutton_prompt_is_regexp = True
html_theme = "pydata_sphinx_theme"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_favicon = "_static/icon.svg"
html_context = {"default_mode": "auto"}
html_title = "kerascope"
html_copy_source = False
html_show_sourcelink = False
html_sidebars = {page: [] for page in ("index", "course", "gallery/README", "search")}
html_theme_options = {
    "logo": {"text": "kerascope"},
    "navbar_align": "left",
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "collapse_navigation": True,
    "navigation_with_keys": False,
    "footer_start": ["copyright"],
    "footer_end": ["sphinx-version"],
}
if html_baseurl:  # a menu of versions; site_pages.py writes the list, with this one
    html_theme_options["switcher"] = {
        "json_url": f"{html_baseurl}/versions.json",
        "version_match": version,
    }
    html_theme_options["check_switcher"] = False
    html_theme_options["navbar_end"] = ["version-switcher", "theme-switcher"]
