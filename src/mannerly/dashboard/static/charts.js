// Charts: SVG paths over a box of 600 by 100, stretched to the place they have.

const WIDTH = 600, HEIGHT = 100;
const CHARTS = [
  { id: "rate", title: "Pages", unit: "a second", form: rate, lines: { pages: "pages", failures: "no page" } },
  { id: "latency", title: "Response time", unit: "", form: seconds, lines: { p50: "half below", p95: "95 %", p99: "99 %" } },
  { id: "statuses", title: "Responses", unit: "a second", form: rate, stacked: true, lines: { status_2xx: "2xx", status_3xx: "3xx", status_4xx: "4xx", status_5xx: "5xx" } },
  { id: "in-flight", title: "Visits in flight", unit: "", form: count, lines: { in_flight: "in flight", visit_limit: "limit" } },
  { id: "frontier", title: "URLs", unit: "whole crawl", form: short, lines: { pending: "pending", known: "known" } },
  { id: "site-count", title: "Sites with work", unit: "whole crawl", form: short, lines: { ready: "ready", waiting: "waiting" } },
  { id: "cpu", title: "CPU by stage", unit: "cores", form: (n) => n.toFixed(2), stacked: true,
    lines: { cpu_fetch: "fetch", cpu_parse: "parse", cpu_frontier: "frontier", cpu_store: "store", cpu_observe: "observe", cpu_other: "other" } },
  { id: "memory", title: "Memory", unit: "all processes", form: size, lines: { memory: "resident" } },
];
const COLOURS = ["a", "b", "c", "d", "e", "f"];

function svg(name, attributes) {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}

class Chart {
  constructor(spec) {
    this.spec = spec;
    this.points = [];
    this.at = null;
    this.values = {};
    const legend = element("ul");
    this.picture = svg("svg", { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", role: "img" });
    for (const y of [0, 50, 100]) this.picture.append(svg("line", { x1: 0, x2: WIDTH, y1: y, y2: y }));
    this.paths = {};
    const entries = Object.entries(spec.lines);
    entries.forEach(([key, label], index) => {
      const colour = COLOURS[index];
      this.paths[key] = svg("path", { class: `${colour}${spec.stacked ? " area" : ""}`, stroke: spec.stacked ? "none" : "currentColor" });
      this.values[key] = element("b");
      legend.append(element("li", { class: colour }, element("i", { "aria-hidden": "true" }), this.values[key]));
    });
    // The first line lies on top, and the first layer of a stack at the bottom.
    for (const [key] of [...entries].reverse()) this.picture.append(this.paths[key]);
    this.cursor = svg("line", { class: "cursor", y1: 0, y2: HEIGHT, visibility: "hidden" });
    this.picture.append(this.cursor);
    this.most = element("span", { class: "most" });
    this.nothing = element("span", { class: "nothing" }, "nothing yet");
    this.from = element("span");
    this.until = element("span", {}, "now");
    const plot = element("div", { class: "plot" }, this.picture, this.most, this.nothing);
    this.root = element("figure", { class: "chart", id: `chart-${spec.id}` },
      element("figcaption", {}, spec.title, element("span", {}, spec.unit)), legend, plot,
      element("div", { class: "axis", "aria-hidden": "true" }, this.from, this.until));
    plot.addEventListener("pointermove", (event) => {
      const box = plot.getBoundingClientRect();
      this.point((event.clientX - box.left) / box.width);
    });
    plot.addEventListener("pointerleave", () => this.point(null));
  }

  point(share) {
    this.at = share;
    this.tell();
  }

  draw(points) {
    this.points = points;
    const { spec } = this;
    this.nothing.hidden = points.length > 1;
    const keys = Object.keys(spec.lines);
    const value = (point, key) => point[key] ?? 0;
    const tops = points.map((point) => spec.stacked
      ? keys.reduce((sum, key) => sum + value(point, key), 0)
      : Math.max(...keys.map((key) => value(point, key))));
    const most = Math.max(1e-9, ...tops) * 1.05;
    const first = points[0]?.at ?? 0, last = points.at(-1)?.at ?? 1;
    const x = (point) => (WIDTH * (point.at - first)) / Math.max(1, last - first);
    const y = (n) => (HEIGHT * (1 - n / most)).toFixed(2);
    const base = points.map(() => 0);
    for (const key of keys) {
      const line = points.map((point, index) => {
        if (spec.stacked) base[index] += value(point, key);
        return `${x(point).toFixed(1)},${y(spec.stacked ? base[index] : value(point, key))}`;
      });
      let path = line.length > 1 ? `M${line.join("L")}` : "";
      if (path && spec.stacked) path += `L${WIDTH},${HEIGHT}L0,${HEIGHT}Z`;
      this.paths[key].setAttribute("d", path);
    }
    this.most.textContent = Math.max(0, ...tops) > 0 ? spec.form(most) : "";
    this.from.textContent = points.length > 1 ? time(first) : "";
    this.tell();
  }

  tell() {
    const { points, spec } = this;
    const index = this.at === null ? points.length - 1 : Math.round(this.at * (points.length - 1));
    const point = points[Math.max(0, Math.min(points.length - 1, index))];
    const parts = [];
    for (const [key, label] of Object.entries(spec.lines)) {
      const text = point ? `${label} ${spec.form(point[key] ?? 0)}` : label;
      this.values[key].textContent = text;
      parts.push(text);
    }
    const shown = this.at !== null && point;
    this.until.textContent = shown ? time(point.at) : "now";
    this.cursor.setAttribute("visibility", shown ? "visible" : "hidden");
    const place = (WIDTH * index) / Math.max(1, points.length - 1);
    for (const end of ["x1", "x2"]) this.cursor.setAttribute(end, Math.max(0, place));
    if (!shown) this.picture.setAttribute("aria-label", `${spec.title} ${spec.unit}: ${parts.join(", ")}`);
  }
}

const charts = {
  day: false,
  points: [],
  made: [],
  start() {
    for (const spec of CHARTS) {
      const chart = new Chart(spec);
      this.made.push(chart);
      byId("chart-grid").append(chart.root);
      chart.draw([]);
    }
    for (const choice of document.getElementsByName("span")) {
      choice.addEventListener("change", () => {
        this.day = choice.value === "day";
        this.load();
      });
    }
  },
  async load() {
    const got = await ask(`/api/history${this.day ? "?span=day" : ""}`);
    if (got) {
      this.points = got.points;
      this.draw();
    }
  },
  add(point) {
    if (!point || this.day || (this.points.at(-1)?.at ?? 0) >= point.at) return;
    this.points.push(point);
    if (this.points.length > 600) this.points.shift();
    if (!document.hidden) this.draw();
  },
  draw() {
    for (const chart of this.made) chart.draw(this.points);
  },
};
