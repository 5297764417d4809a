"""How Sphinx builds the site. `make docs` calls it on a copy of this folder (deploy/docs/pages.py)."""

project = "Parley"
html_title = "Parley"
extensions = ["myst_parser"]
root_doc = "index"
exclude_patterns = ["analysis.ipynb"]

myst_heading_anchors = 4
nitpicky = True
smartquotes = False  # commands and options stay as they are typed

html_theme = "furo"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
