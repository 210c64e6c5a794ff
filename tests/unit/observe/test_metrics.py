"""The metrics: accepted by Prometheus, documented one by one, and what Grafana asks for."""

import json
import re
import shutil
import subprocess
import textwrap
from pathlib import Path

from mannerly.observe.metrics import METRICS, exposition
from mannerly.observe.snapshot import Snapshot
from tests.unit.observe.test_snapshot import snapshot

PROJECT = Path(__file__).parents[3]
NAMES = {metric.name for metric in METRICS}


def test_prometheus_accepts_them() -> None:
    promtool = shutil.which("promtool")
    assert promtool, "Debian's package prometheus is needed: make services"
    for text in (exposition(snapshot(1)), exposition(Snapshot())):
        done = subprocess.run(
            [promtool, "check", "metrics"], input=text, text=True, capture_output=True, check=False
        )
        assert (done.returncode, done.stdout + done.stderr) == (0, "")


def test_an_opentelemetry_collector_is_told_to_scrape_what_prometheus_understands(
    tmp_path: Path,
) -> None:
    """No collector is to be had from Debian; what its receiver is given is Prometheus' own."""
    promtool = shutil.which("promtool")
    assert promtool, "Debian's package prometheus is needed: make services"
    told = (PROJECT / "deploy" / "opentelemetry" / "collector.yml").read_text(encoding="utf-8")
    scraping = told.split("    config:\n", 1)[1].split("\nexporters:", 1)[0]
    path = tmp_path / "prometheus.yml"
    path.write_text(textwrap.dedent(scraping), encoding="utf-8")
    # The file with the token is elsewhere.
    command = [promtool, "check", "config", "--syntax-only", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "job_name: mannerly" in scraping
    for kind in ("receivers", "exporters"):
        (used,) = re.findall(rf"^      {kind}: \[(\w+)\]$", told, re.MULTILINE)
        assert re.search(rf"^{kind}:\n  {used}:$", told, re.MULTILINE), used


def test_labels_are_escaped() -> None:
    text = exposition(Snapshot(deferred={'odd "cause"\n\\': 2}))
    assert r'mannerly_visits_deferred_total{cause="odd \"cause\"\n\\"} 2' in text


def test_the_histogram_adds_up() -> None:
    text = exposition(snapshot(2))
    buckets = [int(n) for n in re.findall(r"duration_seconds_bucket\{.*\} (\d+)", text)]
    assert buckets == sorted(buckets)
    assert buckets[-1] == 1
    assert "mannerly_request_duration_seconds_sum 0.2\n" in text


def test_each_is_documented_with_its_kind_and_label() -> None:
    told = (PROJECT / "docs" / "metrics.md").read_text(encoding="utf-8")
    rows = dict(re.findall(r"^\| `(mannerly_\w+)` (\|.*)$", told, re.MULTILINE))
    assert set(rows) == NAMES
    for metric in METRICS:
        assert f"| {metric.kind} |" in rows[metric.name]
        assert not metric.label or f"`{metric.label}`" in rows[metric.name], metric.name


def test_grafana_and_the_alerts_ask_for_metrics_that_there_are() -> None:
    deploy = PROJECT / "deploy"
    board = json.loads((deploy / "grafana" / "mannerly.json").read_text(encoding="utf-8"))
    asked = [target["expr"] for panel in board["panels"] for target in panel.get("targets", [])]
    assert len(asked) > 10
    texts = [*asked, (deploy / "prometheus" / "alerts.yml").read_text(encoding="utf-8")]
    for text in texts:
        for name in re.findall(r"\bmannerly_\w+", text):
            assert re.sub(r"_(bucket|sum|count)$", "", name) in NAMES, name
