// The table of sites, the latest pages, the failures, and the answers to questions.

const HEADS = [
  { label: "Site", sort: "name" }, { label: "State" }, { label: "Next visit", sort: "next", number: true },
  { label: "Pages", sort: "pages", number: true }, { label: "Pending", sort: "pending", number: true },
  { label: "Failures", sort: "failures", number: true }, { label: "Delay", number: true },
  { label: "robots.txt" }, { label: "Why not now" },
];

const sites = {
  sort: "next", page: 0, begins: "", restUntil: 0,
  start() {
    for (const head of HEADS) {
      const cell = element("th", { scope: "col", class: head.number ? "number" : "" });
      if (head.sort) {
        const button = element("button", { type: "button" }, head.label);
        button.addEventListener("click", () => { this.sort = head.sort; this.page = 0; this.load(); });
        cell.append(button);
        head.cell = cell;
      } else cell.append(head.label);
      byId("site-heads").append(cell);
    }
    byId("site-search").addEventListener("submit", (event) => {
      event.preventDefault();
      this.begins = byId("site-begins").value;
      this.page = 0;
      this.load();
    });
    byId("site-back").addEventListener("click", () => { this.page -= 1; this.load(); });
    byId("site-next").addEventListener("click", () => { this.page += 1; this.load(); });
  },
  async load() {
    const asked = new URLSearchParams({ search: this.begins, sort: this.sort, page: this.page });
    const began = performance.now();
    const got = await ask(`/api/sites?${asked}`, (why) => this.empty(why));
    // By itself it asks again when an answer has been worth it: a million sites take a while to sort.
    this.restUntil = performance.now() + 50 * (performance.now() - began);
    if (!got) return;
    const rows = got.sites.map((site) => this.row(site));
    byId("site-rows").replaceChildren(...rows);
    if (!rows.length) this.empty(this.begins ? "no site begins so" : "no site has anything to visit");
    byId("site-page").textContent = `page ${got.page + 1}`;
    byId("site-back").disabled = ended || got.page === 0;
    byId("site-next").disabled = ended || !got.more;
    for (const head of HEADS) {
      if (!head.cell) continue;
      if (head.sort === got.sort) head.cell.setAttribute("aria-sort", ["name", "next"].includes(head.sort) ? "ascending" : "descending");
      else head.cell.removeAttribute("aria-sort");
    }
  },
  empty(text) {
    byId("site-rows").replaceChildren(element("tr", {}, element("td", { colspan: HEADS.length, class: "empty" }, text)));
  },
  row(site) {
    const number = (text) => element("td", { class: "number" }, text);
    const waits = site.state === "resting" || site.state === "ready";
    const next = waits ? (site.ready_in_s > 0 ? `in ${span(site.ready_in_s)}` : "now") : "–";
    return element("tr", {}, element("th", { scope: "row" }, site.site), element("td", {}, site.state), number(next),
      number(count(site.pages)), number(count(site.pending) + (site.spilt ? ` + ${count(site.spilt)}` : "")),
      number(count(site.failures)), number(site.delay_s ? seconds(site.delay_s) : "–"),
      element("td", {}, site.robots), element("td", { class: "why" }, site.why));
  },
};

async function loadPages() {
  const got = await ask("/api/pages");
  if (!got) return;
  const rows = got.pages.slice(0, 20).map((page) => element("li", {},
    element("p", { class: "title" }, page.title || "(no title)"), link(page.url),
    element("p", { class: "preview" }, page.preview),
    element("p", { class: "meta" }, `${time(page.fetched_at)} · ${page.status} · ${size(page.wire_bytes)} · ${seconds(page.duration_s)}`)));
  byId("page-list").replaceChildren(...(rows.length ? rows : [element("li", { class: "empty" }, "no page yet")]));
}

async function loadFailures() {
  const got = await ask("/api/failures");
  if (!got) return;
  const holder = byId("failure-list");
  const open = new Set([...holder.querySelectorAll("details[open]")].map((it) => it.dataset.kind));
  const focused = document.activeElement?.parentElement?.dataset?.kind;
  const kinds = Object.entries(got.kinds).sort((one, other) => other[1].count - one[1].count);
  const made = kinds.map(([kind, { count: n, examples }]) => {
    const rows = examples.map((it) => element("li", {}, link(it.url),
      element("p", { class: "meta" }, [time(it.fetched_at), it.status || "", it.detail].filter(Boolean).join(" · "))));
    const details = element("details", { "data-kind": kind, open: open.has(kind) },
      element("summary", {}, element("span", { class: "kind" }, words(kind)), element("span", {}, count(n))),
      element("ul", {}, ...rows));
    return details;
  });
  const again = [["tried again", got.deferred], ["our own fault, tried again", got.excused]]
    .filter(([, table]) => Object.keys(table).length)
    .map(([what, table]) => element("p", { class: "meta" }, `${what}: ${Object.entries(table)
      .sort((one, other) => other[1] - one[1]).map(([cause, n]) => `${words(cause)} ${count(n)}`).join(", ")}`));
  holder.replaceChildren(...(made.length || again.length ? [...made, ...again] : [element("p", { class: "empty" }, "nothing so far")]));
  if (focused) holder.querySelector(`details[data-kind="${CSS.escape(focused)}"] summary`)?.focus();
}

function answerTo(form, field, place, address, show) {
  byId(form).addEventListener("submit", async (event) => {
    event.preventDefault();
    const target = byId(place);
    target.replaceChildren(element("p", { class: "quiet" }, "looking …"));
    const got = await ask(address + encodeURIComponent(byId(field).value),
      (why) => target.replaceChildren(element("p", { class: "error" }, why)));
    if (got) target.replaceChildren(...show(got));
  });
}

function explained(got) {
  const robots = got.robots;
  const facts = [
    ["URL", got.url], ["Site", got.site], ["State", got.state && words(got.state)],
    ["Outcome", got.outcome && got.outcome !== "pending" && words(got.outcome)], ["Not a URL", got.problem],
    ["robots.txt", robots && `${words(robots.state)}${robots.line ? `, line ${robots.line}: ${robots.text || robots.rule}` : ""}`],
    ["Excluded by", got.excluded_by], ["Looks like a trap", got.trap],
    ["URLs of its site before it", got.frontier?.queued ? count(got.frontier.before) : ""], ["Found on", got.referrer],
    ["Repeats", got.repeats], ["Not asked", got.gaps.join(" ")],
  ].filter(([, value]) => value);
  return [element("p", { class: "first" }, got.answer),
    element("ul", {}, ...facts.map(([name, value]) => element("li", {}, `${name}: ${value}`)))];
}

function hits(got) {
  if (!got.total) return [element("p", { class: "empty" }, "no page has all of these words")];
  const rows = got.hits.map((hit) => element("li", {}, element("p", { class: "title" }, hit.title || "(no title)"),
    link(hit.url), element("p", { class: "preview" }, hit.snippet)));
  return [element("p", { class: "quiet" }, `${count(got.total)} pages, the best ${rows.length}`), element("ol", { class: "list" }, ...rows)];
}
