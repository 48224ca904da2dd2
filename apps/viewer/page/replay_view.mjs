// A square for each parameter; its colour is the domain that owns it at the time that is shown.
import { NOWHERE } from "./allocation.mjs";
import { canvasOf, domainColour, element, legend, NO_OWNER, pixelColours, pointIn, secondsText } from "./drawing.mjs";

const MAX_SQUARE = 22;

// Columns and the width of a square, so that so many fill a place.
export function gridOf(count, width, height) {
  let size = Math.min(MAX_SQUARE, Math.max(1, Math.floor(Math.sqrt(width * height / Math.max(1, count)))));
  while (size > 1 && Math.ceil(count / Math.floor(width / size)) * size > height) --size;
  return { size, columns: Math.max(1, Math.floor(width / size)) };
}

export class ReplayView {
  // `keys`: indices of those that are shown; null: all.
  constructor({ run, table, keys, width, height, selected, onSelect }) {
    Object.assign(this, { run, table, keys, selected });
    this.count = keys ? keys.length : table.distinct;
    Object.assign(this, gridOf(this.count, width, height));
    const rows = Math.ceil(this.count / this.columns);
    Object.assign(this, canvasOf(this.columns * this.size, Math.max(1, rows * this.size), `owners of the keys of table ${table.name}`));
    this.title = element("h3");
    this.legend = element("div");
    this.element = element("section", {}, this.title, this.legend, this.canvas);
    this.canvas.addEventListener("click", (event) => {
      const { x, y } = pointIn(event);
      const at = Math.floor(y / this.size) * this.columns + Math.floor(x / this.size);
      if (at < this.count) onSelect(this.keyAt(at));
    });
    this.isSmall = this.size < 4;
    if (this.isSmall) {
      this.colours = pixelColours(table.domains);
      this.picture = new ImageData(this.columns, Math.max(1, rows));
      this.pixels = new Uint32Array(this.picture.data.buffer);
      this.buffer = new OffscreenCanvas(this.columns, Math.max(1, rows));
      this.context.imageSmoothingEnabled = false;
    }
  }

  keyAt(position) {
    return this.keys ? this.keys[position] : position;
  }

  show(time) {
    const isLater = this.time !== undefined && time >= this.time;
    this.state = isLater ? this.table.advance(this.state, this.time, time) : this.table.stateAt(time);
    this.time = time;
    const counts = new Array(this.table.domains).fill(0);
    if (this.isSmall) this.showPixels(counts);
    else this.showSquares(counts);
    this.title.textContent = `${this.run.name}, table ${this.table.name}, at ${secondsText(time)}`;
    this.legend.replaceChildren(legend(this.table, counts));
  }

  showPixels(counts) {
    for (let at = 0; at < this.count; ++at) {
      const owner = this.state.owners[this.keyAt(at)];
      if (owner !== NOWHERE) ++counts[owner];
      this.pixels[at] = this.colours[owner];
    }
    this.buffer.getContext("2d").putImageData(this.picture, 0, 0);
    this.context.drawImage(this.buffer, 0, 0, this.columns * this.size, this.picture.height * this.size);
    const at = this.keys ? this.keys.indexOf(this.selected) : this.selected;
    if (at < 0) return;
    this.context.strokeStyle = "#000";
    this.context.lineWidth = 2;
    this.context.strokeRect((at % this.columns) * this.size - 3, Math.floor(at / this.columns) * this.size - 3, this.size + 6, this.size + 6);
  }

  showSquares(counts) {
    const { context, size, columns } = this;
    const gap = size > 6 ? 1 : 0;
    for (let at = 0; at < this.count; ++at) {
      const key = this.keyAt(at), owner = this.state.owners[key];
      const x = at % columns * size, y = Math.floor(at / columns) * size;
      if (owner !== NOWHERE) ++counts[owner];
      context.fillStyle = owner === NOWHERE ? NO_OWNER : domainColour(owner);
      context.fillRect(x, y, size - gap, size - gap);
      const copies = this.state.copies[key];
      if (copies !== 0 && size >= 8) this.showCopies(copies, x, y, size - gap);
      if (key === this.selected) {
        context.strokeStyle = "#000";
        context.lineWidth = 2;
        context.strokeRect(x + 1, y + 1, size - gap - 2, size - gap - 2);
      }
    }
  }

  // A small mark in a row for each domain that has a replica.
  showCopies(copies, x, y, size) {
    const width = Math.max(2, Math.floor(size / 6));
    let place = 0;
    for (let domain = 0; domain < this.table.domains; ++domain) {
      if (!(copies >>> domain & 1)) continue;
      this.context.fillStyle = "#fff";
      this.context.fillRect(x + 1 + place * (width + 1), y + size - width - 3, width + 1, width + 2);
      this.context.fillStyle = domainColour(domain);
      this.context.fillRect(x + 1 + place * (width + 1), y + size - width - 2, width, width);
      ++place;
    }
  }
}
