// What ran, how much moved, and when.
import { BANDS_HEIGHT, canvasOf, drawBands, element, readable, secondsText, tableOf } from "./drawing.mjs";

const HEIGHT = 170;
const PARTS = 200;

// Relocations and replicas per second over the run, with its phases as bands.
function rateChart(run, table, keys, width) {
  const above = run.bands.length > 0 ? BANDS_HEIGHT : 0;
  const height = HEIGHT + above;
  const { canvas, context } = canvasOf(width, height, `relocations and replicas per second of table ${table.name}`);
  const { relocations, replicas } = table.rates(run.duration, PARTS, keys);
  const perSecond = PARTS / run.duration;
  const highest = Math.max(1, ...relocations, ...replicas);
  const left = 70, top = 10 + above, bottom = height - 24;
  const x = (seconds) => left + seconds / run.duration * (width - left - 10);
  drawBands(context, run.bands, x, 4);
  context.font = "12px sans-serif";
  run.phases.forEach((phase, number) => {
    context.fillStyle = number % 2 ? "#f4f4f4" : "#e9eef4";
    context.fillRect(x(phase.begin), top, Math.max(1, x(phase.end) - x(phase.begin)), bottom - top);
  });
  const line = (counts, colour) => {
    context.strokeStyle = colour;
    context.lineWidth = 1.5;
    context.beginPath();
    counts.forEach((count, part) => {
      const y = bottom - count / highest * (bottom - top);
      context.lineTo(x(part / PARTS * run.duration), y);
      context.lineTo(x((part + 1) / PARTS * run.duration), y);
    });
    context.stroke();
  };
  line(replicas, "#e69f00");
  line(relocations, "#0072b2");
  context.fillStyle = "#222";
  context.textAlign = "right";
  context.fillText(readable(highest * perSecond), left - 6, top + 10);
  context.fillText("0", left - 6, bottom);
  context.textAlign = "left";
  context.fillText("0 s", left, height - 8);
  context.textAlign = "right";
  context.fillText(secondsText(run.duration), width - 10, height - 8);
  return canvas;
}

function notesOf(run) {
  const notes = run.notes.size > 0 ? [[...run.notes].map(([name, value]) => `${name}: ${value}`).join(", ")] : [];
  if (run.incomplete.length > 0) notes.push(`ranks ${run.incomplete.join(", ")} did not close their server: their last changes may be missing`);
  if (run.dropped !== null) notes.push(`from ${secondsText(run.dropped)} on, not all changes were recorded, for the limit of bytes`);
  return notes.map((note) => element("p", { class: "note" }, note));
}

// All runs beside each other, and the rates of those that are shown.
export function summaryView({ runs, shown, width }) {
  const rows = runs.flatMap((run) => run.tables.map((table) => {
    table.replicas ??= table.rates(run.duration, 1).replicas[0];
    return [run.name, table.name, run.ranks, table.domains, run.phases.length, secondsText(run.duration), table.home,
            `${readable(table.distinct)} of ${table.keys > 0 ? readable(table.keys) : "any"}`, readable(table.relocations),
            readable(table.relocations / run.duration), readable(table.replicas)];
  }));
  const head = ["run", "table", "ranks", "domains", "phases", "time", "homes", "keys", "relocations", "per second", "replicas set up"];
  const charts = shown.map(({ run, table, keys }) => element("section", {}, element("h3", {}, `${run.name}, table ${table.name}: per second`),
    element("p", { class: "legend" }, element("span", { class: "mark" }, element("i", { style: "background: #0072b2" }), "relocations"),
            element("span", { class: "mark" }, element("i", { style: "background: #e69f00" }), "replicas set up")),
    rateChart(run, table, keys, width), ...notesOf(run)));
  return element("div", {}, tableOf(head, rows), element("div", { class: "columns" }, ...charts));
}
