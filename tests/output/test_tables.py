"""The same table in Markdown, LaTeX and CSV."""

from __future__ import annotations

import csv
import io

from heedful.output.tables import Cell, Table, comma_separated, latex, markdown

TABLE = Table(
    ["run", "ℓ∞ ≤ 0.001 ↑"],
    [
        ["two\nlines | 50 %", Cell("0.9", " (0.8 to 1.0)", "best")],
        [Cell("a.b_c", code=True), Cell("0.8", "", "tied", warning=True)],
        ["x", Cell("0.7", below=("passes", "sure"))],
    ],
    "A <title>",
)


def test_markdown_has_a_line_for_each_row():
    assert markdown(TABLE).splitlines() == [
        "| run | ℓ∞ ≤ 0.001 ↑ |",
        "|---|---|",
        r"| two lines \| 50 % | **0.9** (0.8 to 1.0) |",
        "| `a.b_c` | 0.8° ⚠ |",
        "| x | 0.7 passes sure |",
    ]


def test_latex_is_ascii_and_whole():
    lines = latex(TABLE).splitlines()
    assert lines[0] == r"% A \textless{}title\textgreater{}"
    assert lines[1:4] == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"run & $\ell_\infty$ $\leq$ 0.001 $\uparrow$ \\",
    ]
    assert lines[5:8] == [
        r"two lines \textbar{} 50 \% & \textbf{0.9} (0.8 to 1.0) \\",
        r"\texttt{a.b\_c} & \underline{0.8}$^\dagger$ \\",
        r"x & 0.7 passes sure \\",
    ]
    assert "\n".join(lines).isascii()


def test_csv_can_be_read_again():
    rows = list(csv.reader(io.StringIO(comma_separated(TABLE))))
    assert rows[0] == list(TABLE.headings)
    assert rows[1:] == [["two lines | 50 %", "0.9 (0.8 to 1.0)"], ["a.b_c", "0.8"], ["x", "0.7 passes sure"]]


def test_csv_holds_no_formula_and_numbers_stay_numbers():
    cells = ["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-0.25", "+0.2", "-3.4e-08", "-0.2 to 0.1", "plain"]
    rows = list(csv.reader(io.StringIO(comma_separated(Table(["=a"], [[cell] for cell in cells])))))
    assert [row[0] for row in rows] == ["'=a", "'=1+1", "'@SUM(A1)", "'+cmd|' /C calc'!A0", *cells[3:]]
