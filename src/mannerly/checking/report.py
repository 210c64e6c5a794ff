"""What a check found. Plain values."""

from dataclasses import asdict, dataclass, field


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, or that should be known."""

    where: str
    """A file, relative to the data directory, or what was compared."""
    what: str
    """A sentence without its full stop."""
    problem: bool
    """Whether it is wrong. What a crash leaves as a matter of course is not: the next start of the
    crawl deals with it, as `--repair` does."""


@dataclass(slots=True)
class Report:
    data_dir: str
    running: bool = False
    """A crawler runs here: what is being written now is left out."""
    files: int = 0
    """Parquet files that were read."""
    archives: int = 0
    """WARC files that were read."""
    rows: dict[str, int] = field(default_factory=dict)
    """By table: rows in Parquet files (of `warc`: exchanges), and of the tables that are compared
    also those in journals."""
    journals: int = 0
    settled: int = 0
    """URLs that the frontier has settled."""
    compared: bool = False
    """Whether frontier and store could be compared."""
    mended: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    @property
    def problems(self) -> list[Finding]:
        return [it for it in self.findings if it.problem]

    def note(self, where: str, what: str) -> None:
        self.findings.append(Finding(where, what, problem=False))

    def complain(self, where: str, what: str) -> None:
        self.findings.append(Finding(where, what, problem=True))

    def document(self) -> dict[str, object]:
        return {"whole": not self.problems, **asdict(self)}

    def __str__(self) -> str:
        archives = f"{self.archives:,} WARC files, " if self.archives else ""
        rows = ", ".join(f"{count:,} {name}" for name, count in sorted(self.rows.items()) if count)
        verdict = f"{len(self.problems)} problems" if self.problems else "whole"
        lines = [
            f"{self.data_dir}: {verdict}",
            f"  store      {self.files:,} Parquet files, {archives}{self.journals:,} journals: "
            f"{rows or 'no rows'}",
            f"  frontier   {self.settled:,} settled URLs, "
            + ("compared with the store" if self.compared else "not compared with the store"),
        ]
        lines += [f"  mended     {it}" for it in self.mended]
        lines += [f"  note       {it.where}: {it.what}" for it in self.findings if not it.problem]
        lines += [f"  PROBLEM    {it.where}: {it.what}" for it in self.problems]
        return "\n".join(lines)
