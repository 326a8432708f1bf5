"""The settings of each page as frozen plain values, and the link that carries them. No Streamlit in here.

    settings, problem = link.read(ExploreSettings(), query)    query of an address -> settings
    settings = settings.with_("epsilon", 0.03)                 a widget's event -> settings
    link.write(settings)                                       settings -> query of what differs from the defaults

`entries()` lists all values of a page's settings by the names that links use. Widgets and links are made from the
entries.
"""
