// The token, requests, and the controls.

const store = window.sessionStorage;

function takeToken() {
  const address = new URL(location.href);
  const given = address.searchParams.get("token");
  if (!given) return;
  store.setItem("token", given);
  if (document.querySelector("meta[name=keeps-token]").content === "no") {
    address.searchParams.delete("token");
    history.replaceState(null, "", address);
  }
}

function headers() {
  const token = store.getItem("token");
  return token ? { Authorization: `Bearer ${token}` } : {};
}

async function ask(address, tell = () => {}) {
  try {
    const got = await fetch(address, { headers: headers() });
    if (got.ok) return await got.json();
    tell(await reason(got));
  } catch {
    tell("the crawler does not answer");
  }
  return null;
}

async function reason(got) {
  const text = await got.text();
  try {
    return JSON.parse(text).error ?? text;
  } catch {
    return text.trim() || `${got.status}`;
  }
}

async function steer(what, body = {}) {
  const told = byId("control-answer");
  told.className = "answer";
  try {
    const got = await fetch(`/api/${what}`, {
      method: "POST", headers: { ...headers(), "Content-Type": "application/json" }, body: JSON.stringify(body),
    });
    if (got.ok) {
      told.textContent = (await got.json()).done;
      return true;
    }
    if (got.status === 401) lock();
    told.textContent = await reason(got);
  } catch {
    told.textContent = "the crawler does not answer";
  }
  told.classList.add("error");
  return false;
}

function lock() {
  store.removeItem("token");
  byId("levers").hidden = true;
  byId("unlock").hidden = false;
}

function unlock() {
  const has = Boolean(store.getItem("token"));
  byId("levers").hidden = !has;
  byId("unlock").hidden = has;
}

function sure(question) {
  const dialog = byId("sure");
  byId("sure-text").textContent = question;
  dialog.returnValue = "no";
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => resolve(dialog.returnValue === "yes"), { once: true });
  });
}

function onSubmit(form, act) {
  byId(form).addEventListener("submit", (event) => {
    event.preventDefault();
    act();
  });
}

function startControls() {
  takeToken();
  unlock();
  onSubmit("unlock", () => {
    store.setItem("token", byId("token").value.trim());
    byId("token").value = "";
    byId("control-answer").textContent = "";
    unlock();
  });
  byId("pause").addEventListener("click", () => steer("pause"));
  byId("go-on").addEventListener("click", () => steer("go-on"));
  byId("stop").addEventListener("click", async () => {
    if (await sure("Stop the crawl? What is in flight is finished; --resume goes on later.")) steer("stop");
  });
  // What a person has written there stays until it is sent, though the figure moves on.
  const workers = byId("workers");
  workers.addEventListener("input", () => { workers.dataset.touched = "yes"; });
  onSubmit("workers-form", async () => {
    if (await steer("workers", { workers: Number(workers.value) })) delete workers.dataset.touched;
  });
  onSubmit("exclude-form", async () => {
    const domain = byId("domain").value.trim();
    if (await sure(`Leave ${domain} alone? This cannot be taken back.`)) {
      if (await steer("exclude", { domain })) byId("domain").value = "";
    }
  });
  onSubmit("seeds-form", async () => {
    if (await steer("seeds", { seeds: byId("seeds").value })) byId("seeds").value = "";
  });
}
