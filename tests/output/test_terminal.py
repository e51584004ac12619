"""Tables in a terminal: a row is a row whatever its cells hold, and numbers stay whole."""

from __future__ import annotations

import io

from heedful.output.tables import Cell, Table
from heedful.output.terminal import Screen, as_text, grid, plain

FAMILY = "👩\u200d👩\u200d👧"


def lines(table: Table, width: int = 60, **more: object) -> list[str]:
    screen = Screen(file=io.StringIO(), width=width, color_system=None)
    screen.print(grid(table, **more))
    return screen.file.getvalue().splitlines()  # type: ignore[attr-defined]


def test_newlines_and_joined_emoji_break_no_row():
    found = lines(Table(["run\nname", "x"], [[f"{FAMILY}\n\x1b[2Jb", "1"], ["c", "2"]]))
    assert len(found) == 3
    assert FAMILY in found[1] and "\x1b" not in found[1]
    assert found[0].split() == ["run", "name", "x"]


def test_markup_of_others_is_text():
    assert lines(Table(["a"], [["[red]x[/red]"]]))[1].rstrip() == "[red]x[/red]"
    assert as_text(lambda screen: screen.print(plain("[bold]x"))) == "[bold]x\n"


def test_numbers_stay_whole_beside_a_long_sentence():
    table = Table(
        ["claim", "ours"], [["a sentence that is long enough to be broken somewhere", "0.123456789"]]
    )
    assert any("0.123456789" in line for line in lines(table, width=30))


def test_a_number_breaks_before_its_interval():
    cells = [Cell("a-name"), *(Cell("0.123", " (0.100 to 0.200)", "best") for _ in range(3))]
    found = lines(Table(["run", "a", "b", "c"], [cells]), width=40)
    assert sum(line.count("0.123★") for line in found) == 3
    assert not any("0.123★ (0.100 to 0.200)" in line for line in found)


def test_lines_below_stand_in_their_column_and_columns_can_stand_right():
    found = lines(Table(["a", "number"], [["x", Cell("1", below=("2",))]]), right=(1,))
    assert [line.rstrip() for line in found] == ["a  number", "x       1", "        2"]
