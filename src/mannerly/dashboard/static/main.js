// The state of the crawl, a line a second, and what is shown of it.

const RECONNECT_MS = 2000, TABLES_EVERY_S = 5;
let ended = false, ticks = 0, last = null;

function tile(name, value, ...notes) {
  const made = element("div", {}, element("dt", {}, name), element("dd", {}, value));
  for (const note of notes.filter(Boolean)) made.append(element("dd", {}, note));
  return made;
}

function badge(text, kind) {
  const place = byId("state");
  if (place.textContent !== text) place.textContent = text;
  place.className = `badge ${kind}`;
}

function showState(now) {
  if (now.ended) badge("ended", "");
  else if (now.ending) badge("stopping", "warn");
  else if (now.trouble) badge("in trouble", "bad");
  else if (now.paused) badge("paused", "warn");
  else badge("crawling", "on");
  byId("clock").textContent = span(now.elapsed_s) + (now.processes > 1 ? `, ${now.processes} processes` : "");
  document.title = `${now.ended ? "ended" : `${rate(now.rates.now)}/s`} · ${count(now.pages)} pages · Mannerly`;
  byId("limit-word").textContent = now.ended ? "ended" : now.verdict.limit;
  byId("limit-because").textContent = now.verdict.because;
  byId("limit-advice").textContent = now.verdict.advice;
  byId("seen-at").textContent = `Seen at ${time(now.at)}.`;
}

function showTiles(now) {
  const { counts, settled } = now;
  const all = Object.values(settled).reduce((sum, n) => sum + n, 0);
  const failed = all - now.pages - (settled.redirected ?? 0);
  const pending = counts.urls_pending - counts.urls_abandoned;
  byId("tiles").replaceChildren(
    tile("Pages", count(now.pages), counts.pages > now.pages ? `${count(counts.pages)} in all runs` : "", `${size(now.wire_bytes)}, ${size(now.point?.bytes ?? 0)} a second`),
    tile("Pages a second", rate(now.rates.now), `${rate(now.rates.minute)} in the last minute, ${rate(now.rates.mean)} on average`),
    tile("No page", count(failed), all ? `${((100 * failed) / all).toFixed(1)} % of ${count(all)} URLs` : ""),
    tile("URLs pending", count(pending), `${count(counts.urls_known)} known`, counts.urls_spilt ? `${count(counts.urls_spilt)} spilt` : ""),
    tile("Sites ready", count(counts.sites_ready), `${count(counts.sites_waiting)} waiting`, `${count(counts.sites)} known, ${count(counts.sites_abandoned)} abandoned`),
    tile("In flight", count(now.in_flight), `of ${count(now.visit_limit)}`),
    tile("CPU", now.cores.toFixed(2), "cores in use", `event loop late by ${seconds(now.lag_s)}`),
    tile("Memory", size(now.memory_bytes), `${count(now.open_files)} open files`),
    ...(now.left_s === null || now.ended ? [] : [tile("Time left", span(now.left_s), "until a limit of the run is met")]),
  );
}

function show(now) {
  last = now;
  ended = now.ended;
  showState(now);
  showTiles(now);
  charts.add(now.point);
  const field = byId("workers");
  if (!field.dataset.touched) field.value = now.workers;
  byId("pause").disabled = now.paused || Boolean(now.ending);
  byId("go-on").disabled = !now.paused || Boolean(now.ending);
  byId("stop").disabled = Boolean(now.ending);
  if (ticks % TABLES_EVERY_S === 0 && !document.hidden) loadTables();
  ticks += 1;
}

function loadTables() {
  loadPages();
  loadFailures();
  const reading = byId("sites").contains(document.activeElement);
  if (!reading && performance.now() > sites.restUntil) sites.load();
}

async function* linesOf(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const parts = (rest + value).split("\n");
    rest = parts.pop();
    yield* parts;
  }
}

async function follow() {
  while (!ended) {
    try {
      const got = await fetch("/api/stream", { headers: headers() });
      if (!got.ok) throw new Error(await reason(got));
      await charts.load();
      for await (const line of linesOf(got.body)) show(JSON.parse(line));
    } catch { /* told below: who is not there cannot say why */ }
    if (ended) break;
    badge("no answer", "bad");
    if (last) byId("limit-because").textContent = `The crawler does not answer. It may have ended; the figures are of ${time(last.at)}.`;
    await new Promise((wake) => setTimeout(wake, RECONNECT_MS));
  }
  if (last) byId("limit-because").textContent = `${last.ending}.`;
  byId("limit-advice").textContent = "This page keeps the last figures. mannerly report, query and search read what was crawled.";
  // Nobody is there any more to answer.
  for (const part of document.querySelectorAll("#sites, #ask, #controls"))
    for (const lever of part.querySelectorAll("button, input, textarea")) lever.disabled = true;
}

charts.start();
sites.start();
startControls();
answerTo("explain-form", "explain-url", "explain-answer", "/api/explain?url=", explained);
answerTo("search-form", "search-words", "search-answer", "/api/search?q=", hits);
follow();
