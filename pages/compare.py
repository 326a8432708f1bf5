"""Compare: samplers on one target at equal cost, with error bars, beside the paper's Table 1."""

from dashboard.pages import compare, page

here = page.opened("compare")  # the address becomes settings
compare.sidebar(here)  # widgets show the settings, and their events change them
shown = page.followed(here)  # settings and jobs become a view, which the browser follows
compare.body(here, shown)  # a place for each part of the view
compare.share(here, shown)  # the link, and files
