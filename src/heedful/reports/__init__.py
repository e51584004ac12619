"""The report: from audits to one HTML file that a person reads, and the same tables for papers and model cards.

Nothing here knows any audit by name: each brings its own sentence, figures, heatmap and order of texts.
"""

from heedful.reports.page import write_report

__all__ = ["write_report"]
