"""Figures for papers: `draw(model, style="figure")`."""
