from pathlib import Path

import pytest

from mannerly.config import OPTIONS, Config, as_text, load
from mannerly.errors import ConfigError
from mannerly.model import Caps


def test_the_defaults_are_the_documented_ones() -> None:
    config = load({}, environ={})
    assert config == Config()
    assert config.politeness.delay == 70.0
    assert config.fetch.max_workers == 500
    assert config.given == frozenset()


def test_the_caps_on_a_site_are_the_frontiers_and_zero_is_no_limit() -> None:
    crawl = load({}, environ={}).crawl
    caps = (crawl.max_pending_per_site, crawl.max_spilt_per_site, crawl.max_pages_per_site)
    assert Caps(*caps) == Caps() == Caps(10_000, 100_000, 100_000)
    assert load({"max_pages_per_site": "0"}, environ={}).crawl.max_pages_per_site == 0


def test_file_then_environment_then_flags(tmp_path: Path) -> None:
    file = tmp_path / "crawl.toml"
    file.write_text(
        '[politeness]\ndelay = "5s"\nmax_tries = 7\n[fetch]\nmax_workers = 10\nports = [80, 8080]\n'
        "verify_tls = true\n"
    )
    environ = {"MANNERLY_DELAY": "6s", "MANNERLY_MAX_WORKERS": "20", "HOME": "/"}
    config = load({"max_workers": "30"}, file=file, environ=environ)
    assert config.politeness.max_tries == 7
    assert config.politeness.delay == 6.0
    assert config.fetch.max_workers == 30
    assert config.fetch.ports == {80, 8080}
    assert config.fetch.verify_tls is True
    assert config.given == {"delay", "max_tries", "max_workers", "ports", "verify_tls"}


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("[politeness]\ndealy = 5", "unknown key 'dealy' in [politeness]"),
        ("[politness]\ndelay = 5", "unknown section [politness]"),
        ("[fetch]\ndelay = 5", "it belongs in [politeness]"),
        ("delay = 5", "'delay' belongs in the section [politeness]"),
        ("speed = 5", "unknown section [speed]"),
        ("fetch = 5", "must be a section"),
        ('[politeness]\ndelay = "soon"', "[politeness] delay: 'soon' does not fit"),
        ("[politeness", "not valid TOML"),
    ],
)
def test_a_bad_file_names_what_is_wrong(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "crawl.toml"
    file.write_text(text)
    with pytest.raises(ConfigError) as caught:
        load({}, file=file, environ={})
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="No such file"):
        load({}, file=tmp_path / "none.toml", environ={})


def test_unknown_and_bad_variables_are_errors() -> None:
    with pytest.raises(ConfigError, match="MANNERLY_DEALY"):
        load({}, environ={"MANNERLY_DEALY": "5"})
    with pytest.raises(ConfigError, match=r"MANNERLY_DELAY.*duration"):
        load({}, environ={"MANNERLY_DELAY": "soon"})


def test_a_bad_flag_says_what_is_needed() -> None:
    with pytest.raises(ConfigError, match=r"--email: 'me' does not fit: an address"):
        load({"email": "me"}, environ={})


def test_every_option_has_a_help_text_and_a_section() -> None:
    for option in OPTIONS.values():
        assert option.help.endswith(".")
        assert option.section in {
            "crawl",
            "politeness",
            "fetch",
            "urls",
            "traps",
            "engine",
            "store",
            "observe",
        }


def test_values_survive_being_written_and_read_again() -> None:
    flags = {"connect_to": "[::1]:80", "ports": "80,8080", "verify_tls": "true", "delay": "1h",
             "resolver": "9.9.9.9,::1", "exclude_file": "a.txt", "body_limit": "3MB"}  # fmt: skip
    config = load(flags, environ={})
    written = {
        name: as_text(getattr(getattr(config, OPTIONS[name].section), name)) for name in flags
    }
    assert load(written, environ={}) == config
