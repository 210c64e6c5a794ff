from mannerly.model import DropCause, FrontierStats
from mannerly.observe.left_out import left_out_lines, not_followed_lines


def test_nothing_was_left_out() -> None:
    assert left_out_lines(FrontierStats(dropped={DropCause.SITE_FULL: 0})) == []


def test_each_cause_has_words() -> None:
    stats = FrontierStats(
        urls_spilt=1_200,
        dropped={DropCause.SPILL_FULL: 3, DropCause.SITE_FULL: 40, DropCause.EXCLUDED: 1},
        sites_excluded=2,
        urls_excluded=17,
    )
    spilt, dropped, excluded = left_out_lines(stats)
    assert "1,200 URLs" in spilt
    assert "44 URLs" in dropped
    assert dropped.index("40 their sites have given") < dropped.index("3 too many waiting")
    assert "2 sites, 17 URLs" in excluded


def test_what_was_not_followed_in_words() -> None:
    assert not_followed_lines([], []) == []
    left_out = {"excluded": 5, "URL too long": 1_200}
    closed = [("a.example", f"a.example/{letter}/0", 60) for letter in "abcdefg"]
    first, *others = not_followed_lines(left_out.items(), closed)
    assert first == "  unfollowed 1,205 links, with repeats: 1,200 URL too long, 5 excluded"
    assert len(others) == 5
    assert others[-1] == "  repeating  a.example/g/0 (site a.example): left out after 60 pages"
