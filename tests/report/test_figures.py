"""Figures of the report as a browser draws them: no word is cut, none runs into another, all have one size."""

from __future__ import annotations

import pytest

from heedful.audits.audit import AUDITS
from heedful.reports.exports import write
from heedful.reports.material import Material
from heedful.reports.sections import evidence

DRAWN = ("flip_set", "certificate", "permutation", "sharpness", "imitation")
# Boxes of all words in a figure, in units of the drawing; a pixel of grace for round-off.
WORDS = """svg => {
  const scale = svg.viewBox.baseVal.width / svg.getBoundingClientRect().width, at = svg.getBoundingClientRect();
  return [...svg.querySelectorAll('text')].map(text => {
    const box = text.getBoundingClientRect();
    return [text.textContent, (box.left - at.left) * scale, (box.top - at.top) * scale, (box.right - at.left) * scale, (box.bottom - at.top) * scale];
  });
}"""


@pytest.mark.parametrize("width", [1280, 380])
def test_words_in_figures_are_whole_and_apart(visit, result, tmp_path, width):
    labels = ("a label of eighteen", "another, very long one, of which a part is drawn")
    path = result(names=DRAWN, labels=labels).report(tmp_path / "a.html")
    page = visit(path, width=width).page
    for details in page.locator("details:has(figure)").all():
        details.evaluate("d => d.open = true")
    drawings = page.locator("figure svg").all()
    assert len(drawings) >= len(DRAWN)
    for svg in drawings:
        right, bottom = svg.evaluate("s => [s.viewBox.baseVal.width, s.viewBox.baseVal.height]")
        words = svg.evaluate(WORDS)
        for word, x1, y1, x2, y2 in words:
            assert min(x1, y1) >= -1 and x2 <= right + 1 and y2 <= bottom + 1, word
            for other, a1, b1, a2, b2 in words:
                lies_on = min(x2, a2) - max(x1, a1) > 1 and min(y2, b2) - max(y1, b1) > 1
                assert word == other or not lies_on, (word, other)


def test_figures_have_the_same_width_so_that_a_page_scales_their_lettering_alike(result):
    found = evidence(Material.of(result(names=DRAWN)))
    widths = {figure.svg.partition('width="')[2].partition('"')[0] for one in found for figure in one.figures}
    assert len(widths) == 1


def test_latex_of_the_certificate_has_mathematics_for_norms(result):
    material = Material.of(result(names=("sharpness", "certificate")))
    groups = {number.group for number in material.summaries["certificate"].numbers}
    texts = " ".join([*groups, *(m.description for m in AUDITS.get("certificate").measures.values())])
    assert "ℓ" in texts and "∞" in texts
    body = [line for line in write([material], "latex").splitlines() if not line.startswith("%")]
    assert r"$\ell_\infty$" in "\n".join(body)
    assert "\n".join(body).isascii()


def test_csv_has_all_tables(result):
    text = write([Material.of(result(names=("sharpness", "certificate")))], "csv")
    assert text.count("measure,texts,mean,95 % interval,count\n") == 2
