// The page: which runs, tool, keys and time are shown.
import { focusedKeys, mergeTraces } from "./allocation.mjs";
import { TraceError, readRankTrace } from "./trace_file.mjs";
import { affinityView, clusterView } from "./affinity_view.mjs";
import { element, secondsText } from "./drawing.mjs";
import { FollowedRun, listRuns } from "./live.mjs";
import { LayersView, layeredKeys } from "./layers_view.mjs";
import { MapView, sensibleKeys } from "./map_view.mjs";
import { ReplayView } from "./replay_view.mjs";
import { STATIONS, runsOf } from "./tour.mjs";
import { summaryView } from "./summary_view.mjs";

const TOOLS = { summary: "Summary", replay: "Replay", map: "Over time", layers: "Layers", affinity: "Affinity", cluster: "Cluster", tour: "Tour" };
const SPEEDS = [0.01, 0.03, 0.1, 0.3, 1, 3, 10];
const LONGEST_PLAY = 20; // seconds, at speed 1: longer runs are faster
const part = (id) => document.getElementById(id);

const runs = [];
const view = { tool: "summary", run: 0, other: -1, table: "", focus: "", all: false, selected: null, time: 0, station: 0, speed: 1 };
let views = []; // with show(time)
let isPlaying = false;
let lastFrame = 0;

// --- runs

function addRun(name, files) {
  const traces = files.map(({ bytes, file }) => readRankTrace(bytes, file));
  let free = name;
  for (let number = 2; runs.some((run) => run.name === free); ++number) free = `${name} (${number})`;
  runs.push(mergeTraces(traces, free));
}

// A served run has grown: it takes its old place. Where the time shown was the end, it stays the end.
function replaceRun(name, traces) {
  const run = mergeTraces(traces, name);
  const index = runs.findIndex((one) => one.name === name);
  const isAtEnd = index === view.run && view.time >= runs[index].duration;
  if (index < 0) runs.push(run);
  else runs[index] = run;
  if (isAtEnd) view.time = Infinity;
}

function embeddedBytes(script) {
  const text = atob(script.textContent);
  const bytes = new Uint8Array(text.length);
  for (let i = 0; i < text.length; ++i) bytes[i] = text.charCodeAt(i);
  return bytes;
}

function addEmbeddedRuns() {
  const byName = new Map();
  for (const script of document.querySelectorAll("script.trace")) {
    const { run, file } = script.dataset;
    if (!byName.has(run)) byName.set(run, []);
    byName.get(run).push({ bytes: embeddedBytes(script), file });
    script.remove();
  }
  report(addRuns(byName));
}

// Returns what was wrong, as a text.
function addRuns(byName) {
  const problems = [];
  for (const [name, files] of byName) {
    try {
      addRun(name, files);
    } catch (error) {
      problems.push(error instanceof TraceError ? error.message : `${name}: ${error.message}`);
    }
  }
  return problems.join("; ");
}

// Files of one or several runs: those with equal names before the number of the rank are one.
async function addUploads(list) {
  const byName = new Map();
  const unread = [];
  for (const file of list) {
    const name = file.name.replace(/\.\d+$/, "");
    if (!byName.has(name)) byName.set(name, []);
    try {
      byName.get(name).push({ bytes: new Uint8Array(await file.arrayBuffer()), file: file.name });
    } catch (error) {
      byName.delete(name);
      unread.push(`${file.name} cannot be read: ${error.message}`);
    }
  }
  const before = runs.length;
  report([...unread, addRuns(byName)].filter(Boolean).join("; "));
  if (runs.length > before) view.run = before;
  show();
}

function report(problem) {
  part("problem").textContent = problem;
}

// --- what is shown

function duration() {
  return Math.max(1e-6, ...shownRuns().map(({ run }) => run.duration));
}

function shownRuns() {
  const chosen = [runs[view.run], runs[view.other]].filter(Boolean);
  return chosen.map((run) => ({ run, table: run.tables.find(({ name }) => name === view.table) ?? run.tables[0] })).filter(({ table }) => table);
}

function keysOf(table) {
  try {
    const keys = focusedKeys(table, view.focus);
    part("focus").setCustomValidity("");
    return keys;
  } catch (error) {
    if (!(error instanceof TraceError)) throw error;
    part("focus").setCustomValidity(error.message);
    part("focus").reportValidity();
    return null;
  }
}

function select(table, key, time) {
  view.selected = table.keyNumbers[key];
  if (time !== undefined) view.time = time;
  show();
}

function indexOfSelected(table) {
  const index = view.selected === null ? -1 : table.indexOf(view.selected);
  return table.keyNumbers[index] === view.selected ? index : -1;
}

function toolViews(tool, shown, width) {
  return shown.map(({ run, table }) => {
    const keys = keysOf(table), selected = indexOfSelected(table);
    const common = { run, table, keys, width, selected, onSelect: (key, time) => select(table, key, time) };
    if (tool === "replay") return new ReplayView({ ...common, height: 520 });
    if (tool === "map") return new MapView({ ...common, keys: sensibleKeys(table, keys, view.all, selected), height: 620 });
    if (tool === "layers") return new LayersView({ ...common, keys: layeredKeys(table, keys, selected) });
    if (tool === "affinity") return { element: affinityView({ ...common, keys: sensibleKeys(table, keys, view.all, selected) }) };
    return { element: clusterView(common) };
  });
}

function fill(place, tool, shown) {
  const width = Math.floor((Math.max(640, document.body.clientWidth) - 60) / Math.max(1, shown.length)) - 10;
  if (tool === "summary") {
    place.append(summaryView({ runs, shown: shown.map((one) => ({ ...one, keys: keysOf(one.table) })), width }));
    return;
  }
  const made = toolViews(tool, shown, width);
  views.push(...made.filter((one) => one.show));
  place.append(element("div", { class: "columns" }, ...made.map((one) => one.element)));
}

function showTour(place) {
  const station = STATIONS[view.station];
  const found = runsOf(station, runs)[0];
  const step = (by) => () => {
    view.station = Math.min(STATIONS.length - 1, Math.max(0, view.station + by));
    view.time = 0;
    show();
  };
  place.append(element("article", {}, element("p", { class: "station" }, `Station ${view.station + 1} of ${STATIONS.length}`),
    element("h2", {}, station.title), ...station.text.map((text) => element("p", {}, text)),
    element("p", {}, element("button", { id: "back", onclick: step(-1), disabled: view.station === 0 }, "Back"), " ",
            element("button", { id: "next", onclick: step(1), disabled: view.station === STATIONS.length - 1 }, "Next"))));
  view.run = runs.indexOf(found);
  view.other = -1;
  fill(place, station.tool, shownRuns());
}

function choices(select, texts, chosen) {
  select.replaceChildren(...texts.map(({ text, value }) => element("option", { value, selected: String(value) === String(chosen) }, text)));
}

function showControls() {
  const focused = document.activeElement?.id;
  part("tools").replaceChildren(...Object.entries(TOOLS).map(([tool, name]) => element("button", {
    id: `tool-${tool}`, "aria-pressed": String(tool === view.tool), onclick: () => {
      view.tool = tool;
      show();
    } }, name)));
  if (focused?.startsWith("tool-")) part(focused).focus();
  const names = runs.map((run, value) => ({ text: run.name, value }));
  choices(part("run"), names, view.run);
  choices(part("other"), [{ text: "none", value: -1 }, ...names], view.other);
  const tables = [...new Set([runs[view.run], runs[view.other]].filter(Boolean).flatMap((run) => run.tables.map(({ name }) => name)))];
  if (!tables.includes(view.table)) view.table = tables[0] ?? "";
  choices(part("table"), tables.map((name) => ({ text: name, value: name })), view.table);
  if (part("focus").value !== view.focus) part("focus").value = view.focus;
  part("all").checked = view.all;
  part("selected").textContent = view.selected === null ? "" : `key ${view.selected} is chosen`;
}

function show() {
  views = [];
  const place = part("place");
  place.replaceChildren();
  if (runs.length === 0) {
    place.append(element("p", {}, "There is no trace yet: choose the files of a run's ranks above, or drop them here."));
    return;
  }
  view.run = Math.min(view.run, runs.length - 1);
  showControls();
  if (view.tool === "tour") showTour(place);
  else fill(place, view.tool, shownRuns());
  showControls();
  setTime(view.time);
}

function setTime(time) {
  view.time = Math.min(Math.max(time, 0), duration());
  part("time").value = String(Math.round(view.time / duration() * Number(part("time").max)));
  part("clock").textContent = `${secondsText(view.time)} of ${secondsText(duration())}`;
  for (const one of views) one.show(Math.min(view.time, one.run.duration));
  rememberSoon();
}

// --- the link that restores the view

let remembering = 0;
function rememberSoon() {
  clearTimeout(remembering);
  remembering = setTimeout(() => {
    const { run, other, ...rest } = view;
    const state = { ...rest, run: runs[run]?.name ?? "", other: runs[other]?.name ?? "" };
    history.replaceState(null, "", `#${new URLSearchParams(Object.entries(state).filter(([, value]) => value !== null && value !== ""))}`);
  }, 200);
}

function restore() {
  const state = new URLSearchParams(location.hash.slice(1));
  const index = (name) => runs.findIndex((run) => run.name === state.get(name));
  const number = (name, otherwise) => (Number.isFinite(Number.parseFloat(state.get(name))) ? Number.parseFloat(state.get(name)) : otherwise);
  if (state.get("tool") in TOOLS) view.tool = state.get("tool");
  view.run = Math.max(0, index("run"));
  view.other = index("other");
  view.table = state.get("table") ?? "";
  view.focus = state.get("focus") ?? "";
  view.all = state.get("all") === "true";
  view.selected = number("selected", null);
  view.time = number("time", 0);
  view.station = Math.min(STATIONS.length - 1, Math.max(0, Math.floor(number("station", 0))));
  view.speed = SPEEDS.includes(number("speed", 1)) ? number("speed", 1) : 1;
}

// --- playing

function frame(now) {
  if (!isPlaying) return;
  const perSecond = view.speed * duration() / Math.min(LONGEST_PLAY, Math.max(4, duration()));
  setTime(view.time + (now - lastFrame) / 1000 * perSecond);
  lastFrame = now;
  if (view.time >= duration()) play(false);
  else requestAnimationFrame(frame);
}

function play(on) {
  isPlaying = on;
  part("play").textContent = on ? "Pause" : "Play";
  if (!on) return;
  if (view.time >= duration()) setTime(0);
  lastFrame = performance.now();
  requestAnimationFrame(frame);
}

function listen() {
  part("run").addEventListener("change", (event) => {
    view.run = Number(event.target.value);
    show();
  });
  part("other").addEventListener("change", (event) => {
    view.other = Number(event.target.value);
    show();
  });
  part("table").addEventListener("change", (event) => {
    view.table = event.target.value;
    view.selected = null;
    show();
  });
  part("focus").addEventListener("change", (event) => {
    view.focus = event.target.value;
    show();
  });
  part("all").addEventListener("change", (event) => {
    view.all = event.target.checked;
    show();
  });
  part("time").addEventListener("input", (event) => setTime(Number(event.target.value) / Number(event.target.max) * duration()));
  part("play").addEventListener("click", () => play(!isPlaying));
  choices(part("speed"), SPEEDS.map((speed) => ({ text: `${speed} x`, value: speed })), view.speed);
  part("speed").addEventListener("change", (event) => {
    view.speed = Number(event.target.value);
  });
  part("files").addEventListener("change", async (event) => {
    await addUploads([...event.target.files]);
    event.target.value = ""; // so that the same files can be chosen again
  });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    addUploads([...event.dataTransfer.files]);
  });
  document.addEventListener("keydown", (event) => {
    const { tagName } = event.target;
    if (["INPUT", "SELECT"].includes(tagName) || (tagName === "BUTTON" && event.key === " ") || runs.length === 0) return;
    if (event.key === " ") play(!isPlaying);
    else if (event.key === "ArrowRight") setTime(view.time + duration() / 100);
    else if (event.key === "ArrowLeft") setTime(view.time - duration() / 100);
    else return;
    event.preventDefault();
  });
  let resizing = 0;
  window.addEventListener("resize", () => {
    clearTimeout(resizing);
    resizing = setTimeout(show, 150);
  });
  window.addEventListener("beforeprint", () => setTime(view.time));
}

// --- traces that grow

const LIVE_PAUSE = 1000; // at least, in milliseconds; and four times what the page has worked
const followed = new Map();

// Returns whether the run has grown. Throws TraceError for what is no trace, after which all of it is fetched anew.
async function followRun(number, { name, start, files, problem }) {
  if (problem) throw new TraceError(problem);
  if (!followed.has(name)) followed.set(name, new FollowedRun(number));
  const run = followed.get(name);
  try {
    if (!await run.update(start, files)) return false;
    replaceRun(name, run.traces());
    return true;
  } catch (error) {
    run.forget();
    throw error;
  }
}

async function follow() {
  const begin = performance.now();
  const problems = [];
  let hasGrown = false;
  try {
    for (const [number, run] of (await listRuns()).entries()) {
      try {
        hasGrown = await followRun(number, run) || hasGrown;
      } catch (error) {
        problems.push(error.message);
      }
    }
  } catch {
    problems.push("lapse-viewer does not answer: the page shows what there was, and asks again");
  }
  report(problems.join("; "));
  return { hasGrown, pause: Math.max(LIVE_PAUSE, 4 * (performance.now() - begin)) };
}

async function keepFollowing(pause) {
  await new Promise((resolve) => setTimeout(resolve, pause));
  const { hasGrown, pause: next } = await follow();
  if (hasGrown && !isPlaying) show();
  keepFollowing(next);
}

addEmbeddedRuns();
const firstPause = document.body.dataset.live === "true" ? (await follow()).pause : null;
restore();
listen();
show();
if (firstPause !== null) keepFollowing(firstPause);
document.body.dataset.ready = "true";
