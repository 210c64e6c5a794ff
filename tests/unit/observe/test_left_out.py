from mannerly.model import DropCause, FrontierStats
from mannerly.observe.left_out import left_out_lines


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
