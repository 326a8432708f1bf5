"""What a person chose, as frozen plain values, and the link that carries it. No Streamlit in here.

    settings, problem = link.read(ExploreSettings(), query)    query of an address -> settings
    settings = settings.with_("epsilon", 0.03)                 a widget's event -> settings
    link.write(settings)                                       settings -> query, only what is not the default

`entries()` lists all that a page's settings hold, by the name that a link uses. Widgets and links are made from it.
"""
