"""Charts at the size of a printed page: as PDF, SVG and PNG, and as a Python program that draws the same picture.

A chart is translated once, into calls of Matplotlib's Axes. The pictures are what these calls draw, and the program
contains the same calls, so all forms show the same.
"""

from dashboard.figures.printed.drawing import Drawing, drawing
from dashboard.figures.printed.files import FORMS, printed

__all__ = ["FORMS", "Drawing", "drawing", "printed"]
