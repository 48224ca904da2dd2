// A row for each chosen parameter over time: the colour is its owner, lines below are replicas.
import { NOWHERE } from "./allocation.mjs";
import { COPY, OWNER } from "./trace_file.mjs";
import { canvasOf, domainColour, element, legend, NO_OWNER, pixelColours, pointIn, TimeAxis } from "./drawing.mjs";

const LEFT = 80;
const SENSIBLE = 40;

// Of the keys to show: the chosen ones; or some that moved most often, and others in equal steps. The selected key is among
// them; -1: none is.
export function sensibleKeys(table, chosen, all, selected) {
  if (!chosen && (all || table.distinct <= SENSIBLE)) return Uint32Array.from({ length: table.distinct }, (_, key) => key);
  const keys = new Set(chosen ?? table.mostMoved(SENSIBLE / 2).map(({ key }) => key));
  if (!chosen) {
    const others = SENSIBLE - keys.size;
    for (let i = 0; i < others; ++i) keys.add(Math.floor(i * table.distinct / others));
  }
  if (selected >= 0) keys.add(selected);
  return Uint32Array.from([...keys].sort((a, b) => a - b));
}

// Calls f(from, to, value) for the intervals in which a value holds; the value of a change is value(change, before).
function forEachInterval(table, key, duration, first, value, f) {
  let before = first, since = 0;
  table.forEachChange(key, (change) => {
    const after = value(change, before);
    if (after === before) return;
    if (before !== first) f(since, table.times[change], before);
    before = after;
    since = table.times[change];
  });
  if (before !== first) f(since, duration, before);
}

export class MapView {
  constructor({ run, table, keys, width, height, selected, onSelect }) {
    Object.assign(this, { run, table, keys, selected, height });
    this.plotWidth = Math.max(50, width - LEFT - 10);
    this.axis = new TimeAxis(run, LEFT, this.plotWidth);
    this.plotHeight = height - this.axis.height;
    const rowHeight = this.plotHeight / Math.max(1, keys.length);
    this.rowHeight = rowHeight >= 1 ? Math.min(18, Math.floor(rowHeight)) : rowHeight;
    Object.assign(this, canvasOf(width, height, `owners of ${keys.length} keys of table ${table.name} over time`));
    this.element = element("section", {}, element("h3", {}, `${run.name}, table ${table.name}: ${keys.length} keys`), legend(table), this.canvas);
    this.canvas.addEventListener("click", (event) => {
      const { x, y } = pointIn(event);
      const row = Math.floor(y / this.rowHeight);
      if (row < keys.length) onSelect(keys[row], this.axis.secondsAt(x));
    });
    this.isPixelwise = this.rowHeight < 2;
    this.draw();
    this.background = this.context.getImageData(0, 0, this.canvas.width, this.canvas.height);
  }

  x(seconds) {
    return this.axis.x(seconds);
  }

  draw() {
    const { context } = this;
    context.fillStyle = "#fff";
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    if (this.isPixelwise) this.drawPixels();
    else this.drawRows();
    this.markSelected();
    this.axis.draw(context, this.height);
  }

  // An arrow at the selected key's row, where rows have no numbers.
  markSelected() {
    const row = this.keys.indexOf(this.selected);
    if (row < 0 || this.rowHeight >= 9) return;
    this.context.fillStyle = "#b00000";
    this.context.font = "bold 11px sans-serif";
    this.context.textAlign = "right";
    this.context.fillText(`${this.table.keyNumbers[this.selected]} \u25b6`, LEFT - 2, (row + 0.5) * this.rowHeight + 4);
  }

  drawRows() {
    const { context, table, rowHeight } = this;
    const hasLines = rowHeight >= 6;
    this.keys.forEach((key, row) => {
      const top = row * rowHeight, height = rowHeight - (rowHeight > 4 ? 1 : 0);
      context.fillStyle = NO_OWNER;
      context.fillRect(LEFT, top, this.plotWidth, height);
      const owner = (change, before) => (table.states[change] & OWNER ? table.changeDomains[change] : before);
      forEachInterval(table, key, this.run.duration, NOWHERE, owner, (from, to, domain) => {
        context.fillStyle = domainColour(domain);
        context.fillRect(this.x(from), top, Math.max(1, this.x(to) - this.x(from)), height);
      });
      if (hasLines) this.drawCopies(key, top, height);
      if (rowHeight >= 9) {
        context.fillStyle = key === this.selected ? "#b00000" : "#222";
        context.font = `${key === this.selected ? "bold " : ""}11px sans-serif`;
        context.textAlign = "right";
        context.fillText(String(table.keyNumbers[key]), LEFT - 6, top + height - 1);
      }
    });
  }

  drawCopies(key, top, height) {
    const { context, table } = this;
    const line = Math.max(2, Math.floor(height / 2 / table.domains));
    for (let domain = 0; domain < table.domains; ++domain) {
      const has = (change, before) => (table.changeDomains[change] === domain ? (table.states[change] & COPY) !== 0 : before);
      forEachInterval(table, key, this.run.duration, false, has, (from, to) => {
        const y = top + height - (domain + 1) * line;
        context.fillStyle = "#fff";
        context.fillRect(this.x(from), y - 1, Math.max(1, this.x(to) - this.x(from)), line + 1);
        context.fillStyle = domainColour(domain);
        context.fillRect(this.x(from), y, Math.max(1, this.x(to) - this.x(from)), line);
      });
    }
  }

  // More keys than pixels: each line of pixels shows the first of its keys.
  drawPixels() {
    const { table } = this;
    const lines = Math.min(this.keys.length, Math.floor(this.plotHeight));
    this.rowHeight = lines / this.keys.length;
    const width = Math.floor(this.plotWidth);
    const picture = new ImageData(width, Math.max(1, lines));
    const pixels = new Uint32Array(picture.data.buffer);
    const colours = pixelColours(table.domains);
    for (let line = 0; line < lines; ++line) {
      const row = pixels.subarray(line * width, (line + 1) * width).fill(colours[NOWHERE]);
      const key = this.keys[Math.floor(line * this.keys.length / lines)];
      const owner = (change, before) => (table.states[change] & OWNER ? table.changeDomains[change] : before);
      forEachInterval(table, key, this.run.duration, NOWHERE, owner, (from, to, domain) => {
        const first = Math.floor(from / this.run.duration * width), last = Math.ceil(to / this.run.duration * width);
        row.fill(colours[domain], first, Math.max(first + 1, last));
      });
    }
    const buffer = new OffscreenCanvas(width, Math.max(1, lines));
    buffer.getContext("2d").putImageData(picture, 0, 0);
    this.context.drawImage(buffer, LEFT, 0);
  }

  // A line at the time that is shown.
  show(time) {
    this.axis.mark(this.context, this.background, time, Math.min(this.plotHeight, this.keys.length * this.rowHeight));
  }
}
