"""ListOps files as people have them: every layout, every fault by its line, rows as the model reads them."""

import gzip
import io
import json
import tarfile
import time

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.foundations.errors import InvalidData, InvalidKnob
from sandbox.tasks.listops_files import check, load
from sandbox.tasks.listops_generator import LRA_SCALE, sample, sample_rule
from sandbox.tasks.listops_grammar import OPERATORS, evaluate, parse
from sandbox.tasks.listops_layouts import LONG_RANGE_ARENA, LONGEST_LINE, ORIGINAL
from sandbox.tasks.listops_lines import reference_lines
from sandbox.tasks.listops_vocabulary import encode


def _bracketed(node):
    """The arena's binary bracketing of a tree: `( ( ( [MAX 8 ) 2 ) ] )`."""
    if node.operator is None:
        return str(node.value)
    text = f"[{node.operator}"
    for part in [*map(_bracketed, node.children), "]"]:
        text = f"( {text} {part} )"
    return text


def _file(content):
    return io.BytesIO(content.encode() if isinstance(content, str) else content)


def _problems(content, **knobs):
    return {problem.line: problem.reason for problem in check(_file(content), **knobs).problems}


DRAWN = sample(300, np.random.default_rng(0), operators=OPERATORS, max_length=40)
ARENA = "Source\tTarget\r\n" + "".join(
    f"{_bracketed(parse(text))}\t{value}\r\n"
    for text, value in zip(DRAWN.texts(), DRAWN.targets, strict=True)
)
FIRST_FORM = "".join(
    f"{value}\t{_bracketed(parse(text))}\n" for text, value in zip(DRAWN.texts(), DRAWN.targets, strict=True)
)


@pytest.mark.parametrize(("content", "layout"), [(ARENA, LONG_RANGE_ARENA), (FIRST_FORM, ORIGINAL)])
@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", [b"", b"\r\n\n  \n"])
def test_both_layouts_are_found_by_content_and_read_alike(tmp_path, content, layout, packed, mark, end):
    data = mark + content.encode() + end
    path = tmp_path / "basic_train.tsv"
    path.write_bytes(gzip.compress(data) if packed else data)
    report = check(path)
    assert (report.file, report.layout) == ("basic_train.tsv", layout)
    assert (report.n_rows, report.n_right, report.n_problems, report.stopped) == (300, 300, 0, False)
    loaded = load(str(path), max_length=40)
    for column in ("tokens", "targets", "lengths", "root_operator", "depth"):
        assert np.array_equal(getattr(loaded.rows, column), getattr(DRAWN, column)), column
    assert report.values == tuple(np.bincount(DRAWN.targets, minlength=10))
    assert (report.shortest, report.longest) == (DRAWN.lengths.min(), DRAWN.lengths.max())
    assert report.mean_length == pytest.approx(DRAWN.lengths.mean())


def test_drawn_rows_written_out_are_read_back():
    report = check(_file("\n".join(DRAWN.file_lines())))
    assert (report.layout, report.n_right, report.n_problems) == (ORIGINAL, 300, 0)


def test_columns_are_told_apart_without_a_header():
    rows = "9\t9\n[MAX 1 2 ]\t2\n"
    assert check(_file(rows)).layout == LONG_RANGE_ARENA
    assert check(_file("9\t9\n2\t[MAX 1 2 ]\n")).layout == ORIGINAL
    assert check(_file("9\t9\n")).n_right == 1
    assert check(_file("Target\tSource\n2\t[MAX 1 2 ]\n")).n_right == 1


@pytest.mark.parametrize(
    "spelling",
    [
        "[MAX 4 3 [MIN 2 3 ] 1 0 [MEDIAN 1 5 8 9, 2]]",
        "[ MAX 1 5 ]",
        "[SUM_MOD 7 8 X",
        "( [MAX,5,[MIN 9 X] )",
        "[MAX 05 ]",
        "[MED 5 ]",
        "5",
    ],
)
def test_spellings_of_other_files_are_read(spelling):
    loaded = load(_file(f"Source\tTarget\n{spelling}\t{evaluate(spelling)}\n"), max_length=20)
    assert loaded.report.problems == ()
    assert np.array_equal(loaded.rows.tokens[0], encode(spelling, 20))
    assert loaded.rows.targets.tolist() == [evaluate(spelling)]


def test_each_wrong_row_is_reported_by_its_line_with_the_reason():
    rows = [
        "Source\tTarget",
        "[MAX 1 2 ]\t2",
        "[MAX 1 2 ]\t3",
        "[MAX 1 2\t2",
        "",
        "[SUM 1 2 ]\t3",
        "[MAX ]\t0",
        "[MAX 1 -2 ]\t1",
        "MAX 1 2 ]\t2",
        "[MAX 1 2 ] 3\t2",
        "[MAX 8 12 6 ]\t12",
        "[MAX 1 2 ]",
        "[MAX 1 2 ]\ttwo",
        "[MAX 1 2 ]\t",
        "\t2",
        "[MAX 1 2 ]\t2\tmore",
        "4 5\t4",
        "[MIN 3 2 ]\t002",
        "[MAX 0 0 ]\t0",
    ]
    report = check(_file("\n".join(rows)))
    reasons = {problem.line: problem.reason for problem in report.problems}
    assert (report.n_rows, report.n_right) == (17, 3)
    expected = {
        3: "the label is 3 but the expression has the value 2",
        4: "character 1: unclosed operator",
        6: "character 2: unknown operator 'SUM'",
        7: "character 6: operator '[MAX' has no arguments",
        8: "character 8: negative number '-2'",
        9: "character 1: operator 'MAX' without '['",
        10: "character 12: trailing token '3'",
        11: "The number 12 at character 8",
        12: "this one has 1",
        13: "the label 'two' is no whole number",
        14: "the label '' is no whole number",
        15: "the text is empty",
        16: "this one has 3",
        17: "character 3: trailing token '5'",
    }
    assert list(reasons) == list(expected)
    for line, part in expected.items():
        assert part in reasons[line]
    assert str(report.problems[0]).startswith("line 3: the label is 3")
    assert len(load(_file("\n".join(rows)), max_length=9).rows) == 3


def test_bytes_that_are_no_text_are_reported_and_the_rest_is_read():
    reasons = _problems(b"2\t[MAX 1 2 ]\n2\t[MAX \xff 2 ]\n\xff\t[MAX 1 2 ]\n")
    assert "not UTF-8" in reasons[2] and "no whole number" in reasons[3]


PIECES = [*"[]() ,X-019", "[MAX ", "[MED ", "[MIN 2 ", " ]", " 2 ", " X "]


@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=12).map("".join), min_size=1, max_size=8))
def test_the_quick_reading_accepts_exactly_what_the_grammar_does(expressions):
    """The label is one that fits where there is one, so that grammar and vocabulary alone decide."""
    rows, right = ["Source\tTarget"], 0
    for expression in expressions:
        try:
            encode(expression)
        except (ValueError, InvalidData):
            rows.append(f"{expression}\t0")
        else:
            rows.append(f"{expression}\t{evaluate(expression)}")
            right += 1
    report = check(_file("\n".join(rows)))
    assert (report.n_rows, report.n_right) == (len(expressions), right)
    assert len({problem.line for problem in report.problems}) == report.n_problems


def test_reading_stops_after_the_rows_asked_for():
    report = check(_file(ARENA), rows=7)
    assert (report.n_rows, report.stopped) == (7, True)
    assert not check(_file(ARENA), rows=300).stopped
    assert not check(_file(ARENA), rows=301).stopped
    assert len(load(_file(ARENA), max_length=40, rows=7).rows) == 7


def test_rows_beyond_the_models_length_are_counted_and_skipped_or_cut():
    long = int(np.count_nonzero(DRAWN.lengths > 16))
    assert check(_file(ARENA), max_length=16).n_too_long == long > 0
    skipped, cut = (load(_file(ARENA), 16, too_long=how) for how in ("skip", "cut"))
    assert len(skipped.rows) == 300 - long and skipped.report.n_too_long == long
    assert np.array_equal(skipped.rows.tokens, DRAWN.tokens[DRAWN.lengths <= 16, :16])
    assert np.array_equal(cut.rows.tokens, DRAWN.tokens[:, :16])
    assert np.array_equal(cut.rows.targets, DRAWN.targets)
    assert cut.rows.lengths.max() == 16
    reference_lines(skipped.rows)
    with pytest.raises(InvalidData, match="a row was cut"):
        reference_lines(cut.rows)


def test_a_file_without_a_usable_row_is_refused_with_an_example():
    with pytest.raises(InvalidData, match=r"no usable row of at most 3 tokens"):
        load(_file(ARENA), max_length=3)
    with pytest.raises(InvalidData, match=r"line 1: the label is 1"):
        load(_file("1\t[MAX 1 2 ]"), max_length=30)


def test_the_report_says_what_was_found_and_travels_as_json():
    report = check(
        _file("Source\tTarget\n[MAX 1 2 ]\t2\n[MAX 1 2 ]\t3\n[MIN 1 2 3 ]\t1\n"), rows=3, max_length=4
    )
    assert list(report.sentences()) == [
        "the upload: 3 rows read as 'source, target', 2 are right.",
        "Lengths 4 to 5 tokens, mean 4.5.",
        "1 rows have more than 4 tokens: skip them, or cut them.",
        "line 3: the label is 3 but the expression has the value 2",
    ]
    plain = json.loads(json.dumps(report.to_plain()))
    assert plain["problems"] == [{"line": 3, "reason": "the label is 3 but the expression has the value 2"}]
    assert plain["values"] == [0, 1, 1, 0, 0, 0, 0, 0, 0, 0]
    assert (plain["n_right"], plain["layout"], plain["stopped"]) == (2, "source, target", False)


def test_problems_beyond_the_listed_ones_are_counted(monkeypatch):
    monkeypatch.setattr("sandbox.tasks.listops_files.PROBLEMS_LISTED", 2)
    report = check(_file("1\t[MAX 0 ]\n" * 5))
    assert (len(report.problems), report.n_problems) == (2, 5)
    assert list(report.sentences())[-1] == "3 more problems are counted but not listed."


def test_files_that_cannot_be_read_get_one_sentence(tmp_path):
    with pytest.raises(InvalidData, match="absent.tsv cannot be read: No such file"):
        check(tmp_path / "absent.tsv")
    with pytest.raises(InvalidData, match="cannot be read: Is a directory"):
        check(tmp_path)
    with pytest.raises(InvalidData, match="is empty"):
        check(_file("\n\n"))
    with pytest.raises(InvalidData, match="has no tab on line 1"):
        check(_file("[MAX 1 2 ]\n7\n"))
    with pytest.raises(InvalidData, match="is UTF-16"):
        check(_file("1\t[MAX 1 ]".encode("utf-16")))
    with pytest.raises(InvalidData, match=f"Line 2 of the upload has more than {LONGEST_LINE} bytes"):
        check(_file(b"1\t1\n" + b"7" * (LONGEST_LINE + 1)))
    for damaged in (gzip.compress(ARENA.encode())[:-30], b"\x1f\x8bnothing", gzip.compress(b"x")[:12]):
        with pytest.raises(InvalidData, match="damaged after line"):
            check(_file(damaged))


def test_an_archive_is_told_from_a_file(tmp_path):
    (tmp_path / "basic_val.tsv").write_text(ARENA)
    for mode, name in (("w", "lra.tar"), ("w:gz", "lra_release.gz")):
        with tarfile.open(tmp_path / name, mode) as archive:
            archive.add(tmp_path / "basic_val.tsv", "listops-1000/basic_val.tsv")
        with pytest.raises(InvalidData, match=f"{name} is an archive; unpack it"):
            check(tmp_path / name)


@pytest.mark.parametrize("knobs", [{"rows": 0}, {"max_length": -1}])
def test_counts_below_one_are_refused(knobs):
    with pytest.raises(InvalidKnob, match="ask for 1 or more"):
        check(_file(ARENA), **knobs)


def test_rows_of_the_arenas_length_take_under_a_millisecond_each():
    drawn = sample_rule(200, np.random.default_rng(1), LRA_SCALE)
    rows = [f"( {text} )\t{value}" for text, value in zip(drawn.texts(), drawn.targets, strict=True)]
    file = _file("Source\tTarget\r\n" + "\r\n".join(rows))
    start = time.process_time()
    report = check(file)
    assert time.process_time() - start < 0.2
    assert report.n_right == 200
