"""heedful audit: what it prints, how it leaves, and what it refuses before anything is written."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml

NAMES = (
    "sharpness",
    "agreement",
    "certificate",
    "counterfactual",
    "embedding_stability",
    "flip_set",
    "infidelity",
    "permutation",
    "rationale",
    "reach",
    "single_erasure",
)
RULE = {"measure": "permutation.indifferent", "show": 0.1, "forbid": 0.5, "reason": "because"}
NEEDED = {"measure": "rationale.comprehensiveness", "show": 1.0, "forbid": -1.0, "reason": "needed"}
LENIENT = [
    {"measure": measure, "show": show, "forbid": show, "reason": "anything passes"}
    for measure, show in (("sharpness.sharpness", 0.0), ("sharpness.flat", 1.0))
]
FAST = ("--permutations", "5")
SAID = {
    "show": "You may show this model’s attention as an explanation.",
    "show with caveat": "Show this model’s attention as an explanation only with a caveat.",
    "do not show": "Do not show this model’s attention as an explanation.",
    "not enough evidence": "Not enough evidence to show this model’s attention as an explanation.",
}
CODES = {"show": 0, "show with caveat": 0, "do not show": 1, "not enough evidence": 3}


@pytest.fixture
def copy(trained, tmp_path) -> Path:
    """A run of one's own, for audits that are kept inside it."""
    return Path(shutil.copytree(trained, tmp_path / "run"))


def policy(*rules, least_texts=1) -> str:
    Path("mine.yaml").write_text(
        yaml.safe_dump({"version": 2, "name": "mine", "least_texts": least_texts, "rules": list(rules)})
    )
    return "mine.yaml"


def test_a_verdict_in_words_and_files(run, copy):
    shown = run("audit", copy, *FAST)
    (folder,) = (copy / "audits").iterdir()
    verdict = json.loads((folder / "audit.json").read_text())["verdict"]["verdict"]
    assert shown.code == CODES[verdict] and SAID[verdict] in shown.out
    assert f"Audit: {folder}" in shown.out
    assert {p.stem for p in (folder / "instances").iterdir()} == {"predictions", *NAMES}
    for name in ("audit.json", "config.yaml", "environment.json"):
        assert (folder / name).is_file()


def test_json_is_json(run, copy):
    shown = run("audit", copy, "--json", *FAST)
    found = json.loads(shown.out)
    assert shown.code == CODES[found["verdict"]["verdict"]]
    assert set(found["audits"]) == set(NAMES)
    assert found["about"]["options"]["permutations"] == 5


def test_the_same_command_is_the_same_audit(run, copy):
    one, two = (run("audit", copy, "--json", *FAST) for _ in range(2))
    assert one == two
    run("audit", copy, "--batch-size", 3, *FAST)
    assert len(list((copy / "audits").iterdir())) == 1
    run("audit", copy, "--seed", 3, *FAST)
    assert len(list((copy / "audits").iterdir())) == 2


@pytest.mark.parametrize(
    ("rules", "least_texts", "verdict"),
    [
        ([RULE | {"measure": "sharpness.largest_weight", "show": 0.0, "forbid": 0.0}], 1, "show"),
        ([NEEDED], 1, "show with caveat"),
        ([RULE | {"measure": "sharpness.largest_weight", "show": 1.0, "forbid": 1.0}], 1, "do not show"),
        ([RULE | {"show": 1.0, "forbid": 1.0}], 1000, "not enough evidence"),
        (
            [RULE | {"measure": "sharpness.largest_weight", "show": 1.0, "forbid": 1.0}],
            1000,
            "not enough evidence",
        ),
    ],
)
def test_the_exit_code_is_the_verdict(run, copy, rules, least_texts, verdict):
    flags = ("--policy", policy(*LENIENT, *rules, least_texts=least_texts), "--no-instead", *FAST)
    shown = run("audit", copy, *flags)
    assert (shown.code, SAID[verdict] in shown.out) == (CODES[verdict], True)


def test_some_questions_give_findings_and_no_verdict(run, copy):
    """A gate is not passed by asking less."""
    passing = RULE | {"measure": "sharpness.largest_weight", "show": 0.0, "forbid": 0.0}
    flags = ("--policy", policy(*LENIENT, passing), *FAST)
    shown = run("audit", copy, "--only", "permutation", *flags)
    assert shown.code == 3
    assert "These are findings on this model’s attention, and not a verdict." in shown.out
    (folder,) = (copy / "audits").iterdir()
    assert "and not a verdict.</h1>" in (folder / "report.html").read_text(encoding="utf-8")
    assert run("audit", copy, *flags).code == 0  # the rest is asked, and what was there is not measured again


def test_fewer_texts_never_make_the_verdict_milder(run, copy):
    data = Path("many.csv")
    data.write_text("text\n" + "".join(f"film {i} was great and funny\n" for i in range(60)))
    failing = RULE | {"measure": "sharpness.largest_weight", "show": 1.0, "forbid": 1.0}
    flags = ("--policy", policy(*LENIENT, failing, least_texts=50), "--no-instead", *FAST)
    assert run("audit", copy, data, *flags).code == 1
    shown = run("audit", copy, data, "--limit", 40, *flags)
    assert shown.code == 3
    (page,) = [
        f for f in (copy / "audits").glob("*/report.html") if "40 texts of" in f.read_text(encoding="utf-8")
    ]
    assert (
        "The whole interval lies beyond 1, which would forbid, and yet it is not counted."
        in page.read_text(encoding="utf-8")
    )


def test_copies_of_one_text_are_one_text(run, copy):
    Path("one.csv").write_text("text\n" + "film 1 was great and funny\n" * 60)
    shown = run("audit", copy, "one.csv", "--policy", policy(*LENIENT, least_texts=50), "--no-instead", *FAST)
    assert shown.code == 3
    assert "Only 1 of these 60 texts is distinct" in shown.out


def test_only_some_questions_give_findings_also_where_a_whole_audit_is_kept(run, copy, many):
    flags = ("--policy", policy(*LENIENT), *FAST)
    assert run("audit", copy, many, *flags).code == 0
    (folder,) = (copy / "audits").iterdir()
    page = (folder / "report.html").read_text(encoding="utf-8")
    shown = run("audit", copy, many, "--only", "permutation", *flags)
    assert shown.code == 3
    # What is kept is whole, and so is its report.
    assert not json.loads((folder / "audit.json").read_text(encoding="utf-8"))["verdict"]["partial"]
    assert _timeless((folder / "report.html").read_text(encoding="utf-8")) == _timeless(page)


def _timeless(page: str) -> str:
    """A page without the minute it was made in."""
    return re.sub(r"(Made by heedful \S+ on )[^.<]*", r"\1", page)


@pytest.fixture
def many() -> Path:
    data = Path("many.csv")
    data.write_text(
        "text\n" + "".join(f"film {i} was {('great', 'dull')[i % 2]} and funny\n" for i in range(40))
    )
    return data


def test_where_attention_is_not_simply_shown_others_are_compared(run, copy, many):
    flags = ("--policy", policy(*LENIENT, NEEDED), *FAST)
    assert "What could be shown instead" not in run("audit", copy, many, "--no-instead", *flags).out
    (folder,) = (copy / "audits").iterdir()
    assert not (folder / "alternatives.json").exists()
    shown = run("audit", copy, many, *flags)
    assert shown.code == 0
    assert SAID["show with caveat"] in shown.out
    assert "What could be shown instead" in shown.out
    assert len(list((copy / "audits").iterdir())) == 1  # beside the audit, not audits of their own
    kept = json.loads((folder / "alternatives.json").read_text())
    names = ["attention", "gradient", "leave_one_out", "integrated_gradients"]
    assert [column["source"] for column in kept["columns"]] == names
    assert {len(column["judgements"]) for column in kept["columns"]} == {3}
    assert json.loads(run("audit", copy, many, "--json", *flags).out)["alternatives"] == kept
    assert "What could be shown instead" in (folder / "report.html").read_text(encoding="utf-8")


def test_the_report_of_a_comparison_is_made_again_without_the_model(run, copy, many):
    asked = ("--policy", policy(*LENIENT, NEEDED))
    run("audit", copy, many, *asked, *FAST)
    (folder,) = (copy / "audits").iterdir()
    page = (folder / "report.html").read_text(encoding="utf-8")
    (copy / "model.safetensors").unlink()
    assert run("report", copy, "-o", "again.html", *asked).code == 0
    again = Path("again.html").read_text(encoding="utf-8")
    for part in ("What could be shown instead", 'data-table="instead"'):
        assert part in page and part in again
    tables = [re.search(r'<table class="versus".*?</table>', text, re.S)[0] for text in (page, again)]
    assert tables[0] == tables[1]


@pytest.mark.parametrize(
    "flags",
    [("--only", "rationale"), ("--source", "gradient"), ("--policy", "shown.yaml")],
)
def test_nothing_is_compared_where_it_was_not_asked_for(run, copy, many, flags):
    asked = policy(*LENIENT, NEEDED)
    Path("shown.yaml").write_text(
        Path(asked)
        .read_text()
        .replace("rationale.comprehensiveness", "sharpness.sharpness")
        .replace("show: 1.0", "show: 0.0")
    )
    rules = () if "--policy" in flags else ("--policy", asked)
    run("audit", copy, many, *flags, *rules, *FAST)
    assert not list(Path().glob("**/alternatives.json"))
    assert not list(copy.glob("audits/*/alternatives.json"))


def test_a_comparison_is_saved_where_the_audit_is_and_has_as_many_texts_as_are_asked_for(run, copy, many):
    asked = ("--policy", policy(*LENIENT, NEEDED), "--output", "out", "--instead-texts", 7)
    shown = run("audit", copy, many, *asked, *FAST)
    assert "What could be shown instead" in shown.out
    assert json.loads(Path("out/alternatives.json").read_text())["texts"] == 7
    assert "What could be shown instead" in Path("out/report.html").read_text(encoding="utf-8")
    assert not list(copy.glob("audits/*"))


def test_quick_says_how_many_texts_it_took(run, copy):
    data = Path("many.csv")
    data.write_text("text\n" + "".join(f"film {i} was great and {i}\n" for i in range(700)))
    shown = run("audit", copy, data, "--quick", "--only", "sharpness")
    assert "A random sample of 500 of 700 texts, drawn with seed 0." in shown.out
    shown = run("audit", copy, data, "--quick", "--only", "permutation", "--budget", 1e-9, "--json")
    found = json.loads(shown.out)["audits"]["permutation"]
    assert found["instances"] == 100
    assert "Stopped after 100 of 500 texts" in found["notes"][-1]


def test_texts_without_labels(run, copy):
    Path("plain.csv").write_text("body\nfilm 1 was great and warm\nfilm 2 was dull\n")
    shown = run(
        "audit",
        copy,
        "plain.csv",
        "--text-column",
        "body",
        *FAST,
        "--policy",
        policy(*LENIENT, NEEDED, least_texts=3),
    )
    assert shown.code == 3  # two texts tell nothing
    assert "There are no labels" in shown.out


def test_short_texts_of_a_users_own_are_not_left_out(run, copy):
    """A model may have been trained on longer texts only; that rule is for its own data."""
    config = yaml.safe_load((copy / "config.yaml").read_text())
    (copy / "config.yaml").write_text(yaml.safe_dump(config | {"min_words": 6}))
    Path("short.csv").write_text("text\nso dull\na fine film\n")
    shown = run("audit", copy, "short.csv", "--only", "permutation", *FAST)
    assert "on 2 texts of short.csv" in shown.out


def test_pairs_and_sentences(run, trained_qa, trained_hierarchical):
    for kind, folder in (("qa", trained_qa), ("hierarchical", trained_hierarchical)):
        shown = run("audit", folder, "--output", kind, "--json", *FAST)
        assert shown.code in CODES.values()
        assert set(json.loads(shown.out)["audits"]) == set(NAMES)
    assert not (trained_qa / "audits").exists()


def test_another_score_source(run, copy, reviews):
    shown = run("audit", copy, "--source", "gradient", *FAST)
    assert shown.code in CODES.values()
    assert "the scores of gradient" in shown.out
    run("explain", copy, "--file", reviews, "--explainer", "gradient", "--output", "mine.jsonl")
    shown = run("audit", copy, reviews, "--source", "mine.jsonl", *FAST)
    assert "these scores" in shown.out


def write_scores(rows) -> str:
    Path("scores.jsonl").write_text("".join(json.dumps({"scores": row}) + "\n" for row in rows))
    return "scores.jsonl"


BAD = {
    "no attention": ("MEAN", "This model has no attention"),
    "one word each": ("RUN one.csv", "No text of one.csv has two words or more"),
    "empty file": ("RUN empty.csv", "There is no row in empty.csv"),
    "header alone": ("RUN header.csv", "There is no row in header.csv"),
    "no such file": ("RUN nowhere.csv", "There is no file or folder nowhere.csv"),
    "no such dataset": ("RUN sst3", "There is no dataset named 'sst3': did you mean"),
    "no such run": ("nothing", "There is no run 'nothing'"),
    "no such audit": (
        "RUN --only permutatoin",
        "There is no audit named 'permutatoin': did you mean permutation?",
    ),
    "bad policy": ("RUN --policy bad.yaml", "There is no measure 'permutation.indiferent'"),
    "no policy": ("RUN --policy none.yaml", "There is no policy none.yaml"),
    "too few scores": ("RUN two.csv --source few.jsonl", "few.jsonl has scores for 1 texts, and there are 2"),
    "scores of wrong length": (
        "RUN two.csv --source long.jsonl",
        "Text 2 has 4 items and long.jsonl gives it 5 scores",
    ),
    "scores that are no numbers": (
        "RUN two.csv --source words.jsonl",
        "Row 1 of words.jsonl has no list of numbers",
    ),
    "no scores file": ("RUN two.csv --source none.jsonl", "There is no file none.jsonl"),
    "scores for counterfactual": (
        "RUN --source gradient --only counterfactual",
        "counterfactual cannot be asked here: it asks about attention itself",
    ),
    "no such explainer": (
        "RUN --source gradeint",
        "There is no explainer named 'gradeint': did you mean gradient?",
    ),
    "questions missing": ("QA two.csv", "reads a text for a question or hypothesis, and two.csv has none"),
    "questions too many": ("RUN pairs.csv", "reads texts alone, and pairs.csv has a question"),
    "label": ("RUN labels.csv", "Label 'neutral' in row 2 of labels.csv is not among the classes"),
    "text column": ("RUN two.csv --text-column body", "There is no column 'body' in two.csv"),
    "epsilon": ("RUN --epsilon 1.5", "Option epsilon must be less than 1.0, not '1.5'"),
    "epsilon zero": ("RUN --epsilon 0", "Option epsilon must be more than 0"),
    "pairs": ("RUN --pairs attention", "--pairs must hold pairs such as attention:gradient, not 'attention'"),
    "three": ("RUN --pairs attention:gradient:random", "--pairs must hold pairs"),
    "pair of none": ("RUN --pairs attention:gradeint", "did you mean gradient?"),
    "permutations": ("RUN --permutations 0", "Option permutations must be at least 1"),
    "limit": ("RUN --limit none-at-all", "Option limit must be a whole number"),
    "split": ("RUN --split tset", "Option split must be 'train', 'dev' or 'test'"),
    "method": ("RUN --method guess", "Option method must be 'exact' or 'search'"),
    "budget": ("RUN --budget -1", "Option budget must be more than 0"),
}


@pytest.fixture
def _files() -> None:
    for name, content in {
        "one.csv": "text\ndull\ngreat\n",
        "empty.csv": "",
        "header.csv": "text,label\n",
        "two.csv": "text\nfilm was dull\nfilm was so great\n",
        "pairs.csv": "text,query,label\nfilm was dull,was it,neg\n",
        "labels.csv": "text,label\nfilm was dull,neg\nfilm was fine,neutral\n",
        "few.jsonl": '{"scores": [1, 2, 3]}\n',
        "long.jsonl": '{"scores": [1, 2, 3]}\n{"scores": [1, 2, 3, 4, 5]}\n',
        "words.jsonl": '{"scores": ["a", "b", "c"]}\n{"scores": [1, 2, 3, 4]}\n',
        "bad.yaml": yaml.safe_dump(
            {"version": 1, "name": "x", "rules": [RULE | {"measure": "permutation.indiferent"}]}
        ),
    }.items():
        Path(name).write_text(content)


@pytest.mark.usefixtures("_files")
@pytest.mark.parametrize(("words", "sentence"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_one_sentence_and_leaves_nothing(
    run, copy, trained_qa, trained_without_attention, tmp_path, words, sentence
):
    known = {"RUN": copy, "QA": trained_qa, "MEAN": trained_without_attention}
    before = sorted(tmp_path.rglob("*"))
    for flags in ((), ("--output", "out")):
        left = run("audit", *(known.get(word, word) for word in words.split()), *flags)
        assert left.code == 2
        assert left.out == ""
        assert left.err.startswith("Error: ")
        assert left.err.count("\n") == 1
        assert sentence in left.err
        assert sorted(tmp_path.rglob("*")) == before
    assert not (trained_qa / "audits").exists()


def test_an_output_that_is_no_folder(run, copy):
    Path("notes.txt").write_text("a file in the way")
    left = run("audit", copy, "--output", "notes.txt", *FAST)
    assert left.code == 2
    assert "Cannot write notes.txt" in left.err


def test_the_output_of_another_audit_is_not_mixed_with_this_one(run, copy):
    assert run("audit", copy, "--output", "out", "--only", "permutation", *FAST).code == 3
    left = run("audit", copy, "--output", "out", "--only", "permutation", "--seed", 5, *FAST)
    assert left.code == 2
    assert "out holds another audit (seed differ" in left.err


def test_help_and_list(run):
    shown = run("audit", "--help").out
    assert "Examples" in shown
    assert "heedful audit RUN sst2 --quick" in shown
    assert "--policy" in shown
    listed = run("list", "audits").out
    for name in NAMES:
        assert any(line.split()[0] == name and line.rstrip().endswith("?") for line in listed.splitlines())
