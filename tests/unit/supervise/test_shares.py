from mannerly.config import load
from mannerly.supervise.messages import config_document, config_from, decoded, encoded
from mannerly.supervise.shares import divided, process_count, shares


def test_what_is_divided_adds_up() -> None:
    assert divided(7, 3) == [3, 2, 2]
    assert sum(divided(500, 7)) == 500


def test_no_process_is_without_a_fetch_or_a_page() -> None:
    config = load({"processes": "8", "max_workers": "5"}, environ={})
    assert process_count(config) == 5
    assert process_count(load({"processes": "8", "max_pages": "3"}, environ={})) == 3


def test_without_the_option_there_is_one_for_each_core() -> None:
    assert process_count(load({}, environ={})) >= 1


def test_no_process_has_less_memory_than_it_needs() -> None:
    """Else it would refuse its own share of the limit, and the crawl would never begin."""
    config = load({"processes": "8", "memory_limit": "700MiB"}, environ={})
    count = process_count(config)
    assert count == 2
    for share in shares(config, count):
        sent = config_from(decoded(encoded({"config": config_document(share)}))["config"])
        assert sent.engine.memory_limit == 350 * 2**20
    assert process_count(load({"processes": "8", "memory_limit": "0"}, environ={})) == 8
    assert process_count(load({"processes": "8", "memory_limit": "300MiB"}, environ={})) == 1


def test_shares_hold_the_limits_of_the_whole() -> None:
    flags = {"max_workers": "11", "address_delay": "500ms", "max_duration": "1h", "max_pages": "90",
             "memory_limit": "4GiB"}  # fmt: skip
    parts = shares(load(flags, environ={}), 2)
    assert [part.fetch.max_workers for part in parts] == [6, 5]
    assert [part.politeness.address_delay for part in parts] == [1.0, 1.0]
    assert [part.engine.memory_limit for part in parts] == [2 * 2**30, 2 * 2**30]
    # The frontier has these for all.
    assert [part.crawl.max_duration for part in parts] == [3600.0, 3600.0]
    assert [part.crawl.max_pages for part in parts] == [90, 90]


def test_a_configuration_survives_the_way_to_a_process() -> None:
    flags = {
        "email": "me@example.org", "delay": "70ms", "ports": "80,443,8080", "keep": "links,warc",
        "connect_to": "[::1]:8080", "strip_parameters": "none", "resolver": "127.0.0.1,::1",
        "db_url": "postgresql://me:secret@db.example.org/crawl", "user_agent": "me/1 (a \"b\"; c)",
        "exclude_file": "no such.txt", "verify_tls": "true", "site_by": "host",
        "memory_limit": "3GB",
    }  # fmt: skip
    config = load(flags, environ={})
    sent = config_from(decoded(encoded({"config": config_document(config)}))["config"])
    for section in ("crawl", "politeness", "fetch", "urls", "traps", "engine", "store", "observe"):
        assert getattr(sent, section) == getattr(config, section)
