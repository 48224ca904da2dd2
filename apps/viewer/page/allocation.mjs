// Where the keys of a table were: the traces of all ranks on one axis of time, with an index to jump in it.
import { COPY, OWNER, REMOTE, TICKS_PER_SECOND, TraceError } from "./trace_file.mjs";

// Changes between two stored states of all keys.
const MIN_STRIDE = 1 << 16;
const MAX_STATES = 48;
export const NOWHERE = 255;
export const MAX_DOMAINS = 32;

// Of the clock of a host, in ticks, to rank 0's. All ranks of a host have one clock, so the bounds of all hold for it.
function clockCorrection(traces, host) {
  const there = traces.filter((trace) => trace.hosts[trace.rank] === host && trace.clocks.length > 0);
  if (there.length === 0 || host === traces[0].hosts[0]) return (ticks) => ticks;
  const pointOf = (clocks) => {
    const lowest = Math.max(...clocks.map((clock) => clock.lowest)), highest = Math.min(...clocks.map((clock) => clock.highest));
    return { ticks: clocks[0].ticks, difference: (lowest + highest) / 200 };
  };
  const first = pointOf(there.map(({ clocks }) => clocks[0])), last = pointOf(there.map(({ clocks }) => clocks.at(-1)));
  const grows = last.ticks > first.ticks ? (last.difference - first.difference) / (last.ticks - first.ticks) : 0;
  return (ticks) => ticks - first.difference - (ticks - first.ticks) * grows;
}

function checkRanks(traces) {
  const ranks = traces[0].hosts.length;
  const found = new Set();
  for (const trace of traces) {
    if (trace.hosts.join() !== traces[0].hosts.join()) throw new TraceError(`${trace.name} is of another run than ${traces[0].name}`);
    if (found.has(trace.rank)) throw new TraceError(`there are two traces of rank ${trace.rank}: one is ${trace.name}`);
    found.add(trace.rank);
  }
  for (let rank = 0; rank < ranks; ++rank)
    if (!found.has(rank)) throw new TraceError(`the trace of rank ${rank} of ${ranks} is missing`);
}

// The distinct numbers of an array, ascending.
function sortedNumbers(numbers) {
  const sorted = Float64Array.from(numbers).sort();
  let distinct = 0;
  for (let i = 0; i < sorted.length; ++i)
    if (i === 0 || sorted[i] !== sorted[i - 1]) sorted[distinct++] = sorted[i];
  return sorted.slice(0, distinct);
}

// The same, for numbers below an end.
function markedNumbers(numbers, end) {
  const marks = new Uint8Array(end);
  for (let i = 0; i < numbers.length; ++i) marks[numbers[i]] = 1;
  const distinct = new Float64Array(marks.reduce((sum, mark) => sum + mark, 0));
  for (let number = 0, at = 0; number < end; ++number) if (marks[number]) distinct[at++] = number;
  return distinct;
}

function joined(lists) {
  const all = new Float64Array(lists.reduce((sum, list) => sum + list.length, 0));
  let at = 0;
  for (const list of lists) {
    all.set(list, at);
    at += list.length;
  }
  return all;
}

// What the ranks have seen, each ascending in time, in one order of time.
function merged(parts) {
  const count = parts.reduce((sum, part) => sum + part.times.length, 0);
  const times = new Float64Array(count), keys = new Float64Array(count);
  const domains = new Uint8Array(count), states = new Uint8Array(count);
  const heads = parts.map(() => 0);
  for (let i = 0; i < count; ++i) {
    let best = -1;
    for (let part = 0; part < heads.length; ++part) {
      const head = heads[part];
      if (head < parts[part].times.length && (best < 0 || parts[part].times[head] < parts[best].times[heads[best]])) best = part;
    }
    const part = parts[best], head = heads[best]++;
    times[i] = part.times[head];
    keys[i] = part.keys[head];
    domains[i] = part.domain;
    states[i] = part.states[head];
  }
  return { count, times, keys, domains, states };
}

// Numbers of events by the index of their key: those of key k are order[first[k]] up to order[first[k + 1]].
function orderedByKey(indices, distinct) {
  const first = new Uint32Array(distinct + 1);
  for (let i = 0; i < indices.length; ++i) ++first[indices[i] + 1];
  for (let key = 0; key < distinct; ++key) first[key + 1] += first[key];
  const next = first.slice(0, distinct);
  const order = new Uint32Array(indices.length);
  for (let i = 0; i < indices.length; ++i) order[next[indices[i]]++] = i;
  return { first, order };
}

// Wants or accesses of a table, by key.
class KeyEvents {
  constructor(events, table) {
    Object.assign(this, { count: events.count, times: events.times, domains: events.domains, states: events.states });
    const indices = Uint32Array.from(events.keys, (key) => table.indexOf(key));
    Object.assign(this, orderedByKey(indices, table.keyNumbers.length));
  }

  // Calls f(event) for the events of a key, in the order of time.
  forEach(key, f) {
    for (let i = this.first[key]; i < this.first[key + 1]; ++i) f(this.order[i]);
  }
}

// What happens to the keys of one table. Keys have indices: their positions among the keys of the trace, in ascending order.
export class Table {
  constructor(name, keys, home, domains) {
    Object.assign(this, { name, keys, home, domains, parts: { changes: [], wants: [], accesses: [] } });
  }

  // Sorts what the ranks have seen, and makes the indices.
  finish() {
    const { count, times, keys, domains, states } = merged(this.parts.changes);
    const wants = merged(this.parts.wants), accesses = merged(this.parts.accesses);
    this.parts = null;
    Object.assign(this, { count, times, changeDomains: domains, states });
    this.indexKeys(keys, [wants.keys, accesses.keys]);
    this.indexTimes();
    this.wants = new KeyEvents(wants, this);
    this.accesses = new KeyEvents(accesses, this);
    this.remoteAccesses = accesses.states.reduce((sum, state) => sum + (state & REMOTE ? 1 : 0), 0);
  }

  // `others`: keys of other events. A dense table's keys have changes: their first owners.
  indexKeys(keys, others) {
    const isMarked = this.keys > 0 && this.keys <= 4 * this.count + MIN_STRIDE;
    const all = others.every((list) => list.length === 0) ? keys : joined([keys, ...others]);
    this.keyNumbers = isMarked ? markedNumbers(all, this.keys) : sortedNumbers(all);
    const distinct = this.keyNumbers.length;
    this.keyIndices = new Uint32Array(this.count);
    const isDense = distinct > 0 && this.keyNumbers[distinct - 1] - this.keyNumbers[0] + 1 === distinct;
    for (let i = 0; i < this.count; ++i) {
      this.keyIndices[i] = isDense ? keys[i] - this.keyNumbers[0] : this.indexOf(keys[i]);
    }
    const { first, order } = orderedByKey(this.keyIndices, distinct);
    Object.assign(this, { firstOfKey: first, changesByKey: order });
  }

  // States of all keys after every so many changes; and the domain that each key came from.
  indexTimes() {
    const distinct = this.keyNumbers.length;
    this.stride = Math.max(MIN_STRIDE, Math.ceil(this.count / MAX_STATES));
    this.stored = [];
    this.from = new Uint8Array(this.count).fill(NOWHERE);
    const state = this.emptyState();
    for (let i = 0; i < this.count; ++i) {
      if (i % this.stride === 0) this.stored.push({ owners: state.owners.slice(), copies: state.copies.slice() });
      const owner = state.owners[this.keyIndices[i]];
      if (this.states[i] & OWNER && owner !== this.changeDomains[i]) this.from[i] = owner;
      this.apply(state, i);
    }
    this.relocations = this.from.reduce((sum, from) => sum + (from !== NOWHERE ? 1 : 0), 0);
    this.distinct = distinct;
  }

  emptyState() {
    const distinct = this.keyNumbers.length;
    return { owners: new Uint8Array(distinct).fill(NOWHERE), copies: new Uint32Array(distinct) };
  }

  // An owner stays until the next one has the key: what is on its way belongs to the one that it left.
  apply(state, change) {
    const key = this.keyIndices[change], domain = this.changeDomains[change], what = this.states[change];
    if (what & OWNER) state.owners[key] = domain;
    const bit = (1 << domain) >>> 0;
    state.copies[key] = what & COPY ? state.copies[key] | bit : state.copies[key] & ~bit;
  }

  // The position of a key, or of the first one behind it.
  indexOf(key) {
    let low = 0, high = this.keyNumbers.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.keyNumbers[middle] < key) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // The number of changes up to a time.
  changesUntil(time) {
    let low = 0, high = this.count;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.times[middle] <= time) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // The owner of each key, and a bit for each domain with a replica.
  stateAt(time) {
    const end = this.changesUntil(time);
    const stored = this.stored[Math.min(Math.floor(end / this.stride), this.stored.length - 1)];
    if (!stored) return this.emptyState();
    const state = { owners: stored.owners.slice(), copies: stored.copies.slice() };
    for (let i = Math.min(Math.floor(end / this.stride), this.stored.length - 1) * this.stride; i < end; ++i) this.apply(state, i);
    return state;
  }

  // The state at a later time, from one that stateAt or advance has returned.
  advance(state, from, to) {
    const begin = this.changesUntil(from), end = this.changesUntil(to);
    if (end - begin > this.stride) return this.stateAt(to);
    for (let i = begin; i < end; ++i) this.apply(state, i);
    return state;
  }

  // Calls f(change) for the changes of a key, in the order of time.
  forEachChange(key, f) {
    for (let i = this.firstOfKey[key]; i < this.firstOfKey[key + 1]; ++i) f(this.changesByKey[i]);
  }

  // Of one key: seconds in each domain, and relocations to each.
  affinity(key, duration) {
    const seconds = new Float64Array(this.domains), arrivals = new Uint32Array(this.domains);
    let owner = NOWHERE, since = 0;
    this.forEachChange(key, (change) => {
      if (!(this.states[change] & OWNER)) return;
      if (owner !== NOWHERE) seconds[owner] += this.times[change] - since;
      if (this.from[change] !== NOWHERE) ++arrivals[this.changeDomains[change]];
      owner = this.changeDomains[change];
      since = this.times[change];
    });
    if (owner !== NOWHERE) seconds[owner] += duration - since;
    return { seconds, arrivals };
  }

  // A mark for each of these keys; null: all keys.
  marksOf(keys) {
    if (!keys) return null;
    const marks = new Uint8Array(this.distinct);
    keys.forEach((key) => { marks[key] = 1; });
    return marks;
  }

  // Relocations and replicas set up of these keys, in so many equal parts of the duration.
  rates(duration, parts, keys = null) {
    const relocations = new Float64Array(parts), replicas = new Float64Array(parts);
    const marks = this.marksOf(keys);
    for (let i = 0; i < this.count; ++i) {
      if (marks && !marks[this.keyIndices[i]]) continue;
      const part = Math.min(parts - 1, Math.floor(this.times[i] / duration * parts));
      if (this.from[i] !== NOWHERE) ++relocations[part];
      if (this.states[i] === COPY) ++replicas[part];
    }
    return { relocations, replicas };
  }

  // Relocations of these keys from each domain (rows) to each (columns), row by row.
  flows(keys = null) {
    const flows = new Float64Array(this.domains * this.domains);
    const marks = this.marksOf(keys);
    for (let i = 0; i < this.count; ++i)
      if (this.from[i] !== NOWHERE && (!marks || marks[this.keyIndices[i]])) ++flows[this.from[i] * this.domains + this.changeDomains[i]];
    return flows;
  }

  // Indices of the keys that moved most often.
  mostMoved(count) {
    this.movedOrder ??= this.orderByMoves();
    return this.movedOrder.slice(0, count);
  }

  orderByMoves() {
    const moves = new Uint32Array(this.distinct);
    for (let i = 0; i < this.count; ++i) if (this.from[i] !== NOWHERE) ++moves[this.keyIndices[i]];
    const order = Array.from(moves.keys()).filter((key) => moves[key] > 0).sort((a, b) => moves[b] - moves[a] || a - b);
    return order.map((key) => ({ key, moves: moves[key] }));
  }
}

// A rank's events of each of its tables.
function partsOf(trace, events, seconds) {
  const counts = new Uint32Array(trace.tables.length);
  for (let i = 0; i < events.count; ++i) ++counts[events.tables[i]];
  const parts = trace.tables.map((table, index) => ({ domain: table.domains[trace.rank], times: new Float64Array(counts[index]),
                                                      keys: new Float64Array(counts[index]), states: new Uint8Array(counts[index]), count: 0 }));
  for (let i = 0; i < events.count; ++i) {
    const part = parts[events.tables[i]];
    part.times[part.count] = seconds(events.ticks[i]);
    part.keys[part.count] = events.keys[i];
    part.states[part.count++] = events.states[i];
  }
  return parts;
}

// One run. `traces`: of all its ranks, as readRankTrace returns them. Throws TraceError.
export function mergeTraces(traces, name) {
  checkRanks(traces);
  const clocks = new Map([...new Set(traces[0].hosts)].map((host) => [host, clockCorrection(traces, host)]));
  const corrections = traces.map((trace) => clocks.get(trace.hosts[trace.rank]));
  // Time begins with the first table.
  const made = traces.flatMap((trace, i) => trace.tables.slice(0, 1).map((table) => corrections[i](table.made)));
  const begin = made.length > 0 ? Math.min(...made) : traces[0].begin;
  const run = { name, hosts: traces[0].hosts, ranks: traces.length, version: traces[0].version, tables: [], phases: [], bands: [], notes: new Map(), duration: 0,
                incomplete: [], dropped: null };
  traces.forEach((trace, number) => {
    const seconds = (ticks) => Math.max(0, (corrections[number](ticks) - begin) / TICKS_PER_SECOND);
    const indices = trace.tables.map((table) => {
      const domains = table.domains.reduce((most, domain) => Math.max(most, domain), 0) + 1;
      if (domains > MAX_DOMAINS) throw new TraceError(`${trace.name}: this page shows up to ${MAX_DOMAINS} domains, not ${domains}`);
      let index = run.tables.findIndex((one) => one.name === table.name);
      if (index < 0) index = run.tables.push(new Table(table.name, table.keys, table.home, domains)) - 1;
      if (run.tables[index].keys !== table.keys || run.tables[index].domains !== domains)
        throw new TraceError(`the ranks' traces have different tables '${table.name}'`);
      return index;
    });
    for (const kind of ["changes", "wants", "accesses"]) {
      partsOf(trace, trace[kind], seconds).forEach((part, index) => run.tables[indices[index]].parts[kind].push(part));
    }
    if (trace.rank === 0) {
      const inSeconds = ({ name: one, begin: from, end: to }) => ({ name: one, begin: seconds(from), end: seconds(to) });
      Object.assign(run, { phases: trace.phases.map(inSeconds), bands: trace.bands.map(inSeconds), notes: trace.notes });
    }
    run.duration = Math.max(run.duration, seconds(trace.end));
    if (!trace.isClosed) run.incomplete.push(trace.rank);
    if (trace.dropped !== null) run.dropped = Math.min(run.dropped ?? Infinity, seconds(trace.dropped));
  });
  run.duration = Math.max(run.duration, 1e-6);
  run.tables.forEach((table) => table.finish());
  return run;
}

// Indices of the keys of "5,17,100-199" that the trace has; of an empty text, null: all. Throws TraceError.
export function focusedKeys(table, text) {
  if (text.trim() === "") return null;
  const keys = [];
  for (const word of text.split(",")) {
    const match = /^\s*(\d+)\s*(?:-\s*(\d+)\s*)?$/.exec(word);
    if (!match || Number(match[2] ?? match[1]) < Number(match[1]))
      throw new TraceError(`'${word.trim()}' is no key, or range of keys such as 10-19`);
    const end = Number(match[2] ?? match[1]);
    for (let index = table.indexOf(Number(match[1])); index < table.distinct && table.keyNumbers[index] <= end; ++index) keys.push(index);
  }
  return Uint32Array.from([...new Set(keys)].sort((a, b) => a - b));
}
