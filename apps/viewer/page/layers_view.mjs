// Single parameters, a lane for each domain: what it has of the parameter, when its intents want it, and its accesses.
import { NOWHERE } from "./allocation.mjs";
import { COPY, OWNER, REMOTE } from "./trace_file.mjs";
import { canvasOf, domainColour, element, NO_OWNER, pointIn, readable, TimeAxis } from "./drawing.mjs";

const LANES_LEFT = 130;
const LANE = 30; // intents above, then what the domain has, then accesses
const KEY_GAP = 14;
const MAX_KEYS = 8;
const INTENT = "#333333";
const LOCAL = "#000000";
const AWAY = "#d0021b";

// The keys to show: the selected one first, then those of the focus, or those that moved most often.
export function layeredKeys(table, chosen, selected) {
  const others = chosen ?? [...table.mostMoved(MAX_KEYS).map(({ key }) => key), ...Array.from({ length: Math.min(MAX_KEYS, table.distinct) }, (_, key) => key)];
  return [...new Set([...(selected >= 0 ? [selected] : []), ...others])].slice(0, MAX_KEYS);
}

// The intervals in which a domain owns a key, has a replica, or its intents want it. An owner stays until the next one has the key.
export function lanesOf(table, key, duration) {
  const lanes = Array.from({ length: table.domains }, () => ({ owned: [], copied: [], wanted: [] }));
  const open = (list, from) => list.push({ from, to: duration });
  const close = (list, to) => {
    if (list.length > 0 && list.at(-1).to === duration) list.at(-1).to = to;
  };
  const copies = new Array(table.domains).fill(false);
  let owner = NOWHERE;
  table.forEachChange(key, (change) => {
    const domain = table.changeDomains[change], time = table.times[change], state = table.states[change];
    if (state & OWNER && owner !== domain) {
      if (owner !== NOWHERE) close(lanes[owner].owned, time);
      open(lanes[domain].owned, time);
      owner = domain;
    }
    const hasCopy = (state & COPY) !== 0;
    if (hasCopy === copies[domain]) return;
    copies[domain] = hasCopy;
    (hasCopy ? open : close)(lanes[domain].copied, time);
  });
  const wanted = new Array(table.domains).fill(false);
  table.wants.forEach(key, (want) => {
    const domain = table.wants.domains[want], on = table.wants.states[want] !== 0;
    if (on === wanted[domain]) return;
    wanted[domain] = on;
    (on ? open : close)(lanes[domain].wanted, table.wants.times[want]);
  });
  return lanes;
}

export class LayersView {
  constructor({ run, table, keys, width, selected, onSelect }) {
    Object.assign(this, { run, table, keys, selected });
    this.plotWidth = Math.max(50, width - LANES_LEFT - 10);
    this.axis = new TimeAxis(run, LANES_LEFT, this.plotWidth);
    this.keyHeight = table.domains * LANE + KEY_GAP;
    this.height = keys.length * this.keyHeight + this.axis.height;
    Object.assign(this, canvasOf(width, this.height, `owners, replicas, intents and accesses of ${keys.length} keys of table ${table.name}`));
    const has = table.wants.count + table.accesses.count > 0;
    const note = has ? `${readable(table.wants.count)} changes of wants, ${readable(table.accesses.count)} accesses, ${readable(table.remoteAccesses)} by messages`
      : "no wants and accesses: record them with the option allocation_trace_events";
    this.element = element("section", {}, element("h3", {}, `${run.name}, table ${table.name}: ${keys.length} keys in layers`), element("p", { class: "note" }, note),
                           this.legend(), this.canvas);
    this.canvas.addEventListener("click", (event) => {
      const { x, y } = pointIn(event);
      const row = Math.floor(y / this.keyHeight);
      if (row < keys.length) onSelect(keys[row], this.axis.secondsAt(x));
    });
    this.draw();
    this.background = this.context.getImageData(0, 0, this.canvas.width, this.canvas.height);
  }

  legend() {
    const mark = (style, text) => element("span", { class: "mark" }, element("i", { style }), text);
    const colour = domainColour(0);
    return element("div", { class: "legend" }, mark(`background: ${colour}`, "owner"), mark(`background: linear-gradient(#fff 50%, ${colour} 50%)`, "replica"),
                   mark(`background: linear-gradient(${INTENT} 30%, #fff 30%)`, "its intents want it"), mark(`background: ${LOCAL}; width: 2px`, "access in memory"),
                   mark(`background: ${AWAY}; width: 2px`, "access by messages"));
  }

  x(seconds) {
    return this.axis.x(seconds);
  }

  draw() {
    const { context, keys, table } = this;
    context.fillStyle = "#fff";
    context.fillRect(0, 0, this.canvas.width, this.canvas.height);
    keys.forEach((key, row) => {
      lanesOf(table, key, this.run.duration).forEach((lane, domain) => this.drawLane(lane, domain, row * this.keyHeight + domain * LANE));
      this.drawAccesses(key, row * this.keyHeight);
      context.fillStyle = key === this.selected ? "#b00000" : "#222";
      context.font = `${key === this.selected ? "bold " : ""}12px sans-serif`;
      context.textAlign = "left";
      context.fillText(`key ${table.keyNumbers[key]}`, 2, row * this.keyHeight + 14);
    });
    this.axis.draw(context, this.height);
  }

  drawLane(lane, domain, top) {
    const { context } = this;
    const bars = (intervals, y, height, colour) => {
      context.fillStyle = colour;
      for (const { from, to } of intervals) context.fillRect(this.x(from), y, Math.max(1, this.x(to) - this.x(from)), height);
    };
    context.fillStyle = NO_OWNER;
    context.fillRect(LANES_LEFT, top + 6, this.plotWidth, 14);
    bars(lane.owned, top + 6, 14, domainColour(domain));
    bars(lane.copied, top + 13, 7, domainColour(domain));
    bars(lane.wanted, top + 1, 4, INTENT);
    context.fillStyle = "#222";
    context.font = "11px sans-serif";
    context.textAlign = "right";
    context.fillText(`domain ${domain}`, LANES_LEFT - 6, top + 18);
  }

  // Below what the domain has; those by messages are taller.
  drawAccesses(key, top) {
    const { context, table } = this;
    const { accesses } = table;
    const seen = new Set(); // a line for each pixel
    accesses.forEach(key, (access) => {
      const isRemote = (accesses.states[access] & REMOTE) !== 0;
      const x = Math.round(this.x(accesses.times[access])), y = top + accesses.domains[access] * LANE + 21;
      const place = `${x} ${accesses.domains[access]} ${isRemote}`;
      if (seen.has(place)) return;
      seen.add(place);
      context.fillStyle = isRemote ? AWAY : LOCAL;
      context.fillRect(x, isRemote ? y - 3 : y, 1, isRemote ? 10 : 5);
    });
  }

  // A line at the time that is shown.
  show(time) {
    this.axis.mark(this.context, this.background, time, this.keys.length * this.keyHeight);
  }
}
