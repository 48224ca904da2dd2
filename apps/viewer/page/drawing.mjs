// Colours and small parts of the page.

// The palette of Okabe and Ito, which people with any vision of colours can tell apart.
const PALETTE = ["#0072b2", "#e69f00", "#009e73", "#cc79a7", "#56b4e9", "#d55e00", "#f0e442", "#555555"];
export const NO_OWNER = "#e8e8e8";

export function domainColour(domain) {
  if (domain < PALETTE.length) return PALETTE[domain];
  return `hsl(${(domain * 137) % 360} 55% ${domain % 2 ? 35 : 65}%)`;
}

// Of a colour that domainColour returns: red, green, blue and opacity in one number, as a picture stores them.
export function pixelColours(count) {
  const canvas = document.createElement("canvas");
  canvas.width = canvas.height = 1;
  const context = canvas.getContext("2d", { willReadFrequently: true });
  const pixel = (colour) => {
    context.fillStyle = colour;
    context.fillRect(0, 0, 1, 1);
    return new Uint32Array(context.getImageData(0, 0, 1, 1).data.buffer)[0];
  };
  const colours = new Uint32Array(256).fill(pixel(NO_OWNER));
  for (let domain = 0; domain < count; ++domain) colours[domain] = pixel(domainColour(domain));
  return colours;
}

// An element with attributes and children; texts are texts, never HTML.
export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.map((child) => (child instanceof Node ? child : String(child))));
  return made;
}

export function tableOf(head, rows) {
  return element("table", {}, element("thead", {}, element("tr", {}, ...head.map((text) => element("th", {}, text)))),
                 element("tbody", {}, ...rows.map((row) => element("tr", {}, ...row.map((cell) => element("td", {}, cell))))));
}

// A canvas of this size in CSS pixels, sharp on every screen. Its context has CSS pixels as units.
export function canvasOf(width, height, label) {
  const ratio = window.devicePixelRatio || 1;
  const canvas = element("canvas", { role: "img", "aria-label": label, width: Math.round(width * ratio), height: Math.round(height * ratio),
                                     style: `width: ${width}px; height: ${height}px` });
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  return { canvas, context };
}

export function readable(number) {
  if (number >= 1e6) return `${(number / 1e6).toFixed(number < 1e7 ? 2 : 1)} M`;
  if (number >= 1e4) return `${(number / 1e3).toFixed(1)} k`;
  return Number.isInteger(number) ? String(number) : number.toPrecision(3);
}

export function secondsText(seconds) {
  return seconds < 0.1 ? `${(seconds * 1e3).toFixed(2)} ms` : `${seconds.toFixed(3)} s`;
}

export function domainMark(domain, text = `domain ${domain}`) {
  return element("span", { class: "mark" }, element("i", { style: `background: ${domainColour(domain)}` }), text);
}

export function legend(table, counts) {
  const marks = [];
  for (let domain = 0; domain < table.domains; ++domain)
    marks.push(domainMark(domain, counts ? `domain ${domain}: ${readable(counts[domain])}` : `domain ${domain}`));
  return element("div", { class: "legend" }, ...marks);
}

// The position of a pointer in an element, in its CSS pixels.
export function pointIn(event) {
  const box = event.target.getBoundingClientRect();
  return { x: event.clientX - box.left, y: event.clientY - box.top };
}

// Named intervals of a run in one line of text height, as far as the names fit. `x`: of seconds to pixels.
export const BANDS_HEIGHT = 16;
export function drawBands(context, bands, x, top) {
  context.font = "11px sans-serif";
  context.textAlign = "left";
  // Those within others are above them.
  const order = [...bands].sort((one, other) => other.end - other.begin - (one.end - one.begin));
  order.forEach(({ name, begin, end }, number) => {
    const left = x(begin), width = Math.max(1, x(end) - left);
    context.fillStyle = number % 2 ? "#d9e2ec" : "#bccbda";
    context.fillRect(left, top, width, BANDS_HEIGHT - 2);
    if (context.measureText(name).width + 4 > width) return;
    context.fillStyle = "#222";
    context.fillText(name, left + 2, top + BANDS_HEIGHT - 5);
  });
}

// The axis of time below a picture of a run: from `left` on, `width` pixels for the whole run, with the run's bands.
export class TimeAxis {
  constructor(run, left, width) {
    Object.assign(this, { run, left, width, height: 20 + (run.bands.length > 0 ? BANDS_HEIGHT : 0) });
  }

  x(seconds) {
    return this.left + seconds / this.run.duration * this.width;
  }

  secondsAt(x) {
    return Math.max(0, (x - this.left) / this.width * this.run.duration);
  }

  // `bottom`: of the picture.
  draw(context, bottom) {
    drawBands(context, this.run.bands, (seconds) => this.x(seconds), bottom - this.height + 2);
    context.fillStyle = "#222";
    context.font = "12px sans-serif";
    context.textAlign = "left";
    context.fillText("0 s", this.left, bottom - 5);
    context.textAlign = "right";
    context.fillText(secondsText(this.run.duration), this.left + this.width, bottom - 5);
  }

  // A line at a time over the picture without it, down to `end`.
  mark(context, picture, time, end) {
    context.putImageData(picture, 0, 0);
    context.strokeStyle = "#000";
    context.lineWidth = 1;
    context.beginPath();
    context.moveTo(this.x(time), 0);
    context.lineTo(this.x(time), end);
    context.stroke();
  }
}
