// Reads the trace of allocation of one rank: docs/allocation-traces.md describes the format.

export const OWNER = 1;
export const COPY = 2;
export const AWAITED = 4;

const MAGIC = "LAPSETR1";
const HEADER = 1, TABLE = 2, ON_TABLE = 3, BEGIN = 4, END = 5, DROPPED = 6, CLOCK = 7, CLOSE = 8;
const CHANGE = 0x80;
export const TICKS_PER_SECOND = 1e7;
const MAX_KEY = Number.MAX_SAFE_INTEGER;

export class TraceError extends Error {}

// Thrown where the file ends within a record.
class CutOff extends Error {}

// Grows as changes are appended.
class Changes {
  constructor() {
    this.count = 0;
    this.reserve(1024);
  }

  reserve(size) {
    const grown = (old, Type) => {
      const array = new Type(size);
      if (old) array.set(old);
      return array;
    };
    this.ticks = grown(this.ticks, Float64Array);
    this.keys = grown(this.keys, Float64Array);
    this.tables = grown(this.tables, Uint16Array);
    this.states = grown(this.states, Uint8Array);
  }

  append(ticks, key, table, state) {
    if (this.count === this.ticks.length) this.reserve(2 * this.count);
    this.ticks[this.count] = ticks;
    this.keys[this.count] = key;
    this.tables[this.count] = table;
    this.states[this.count++] = state;
  }
}

class RankReader {
  constructor(bytes, name) {
    this.bytes = bytes;
    this.name = name;
    this.at = 0;
  }

  fail(problem) {
    throw new TraceError(`${this.name}: damaged at byte ${this.at}: ${problem}`);
  }

  byte() {
    if (this.at >= this.bytes.length) throw new CutOff();
    return this.bytes[this.at++];
  }

  // Exact up to 2^53, which is beyond all times; larger keys lose their last bits.
  number() {
    let number = 0, factor = 1;
    for (let i = 0; i < 10; ++i) {
      const next = this.byte();
      number += (next & 0x7f) * factor;
      if (next < 0x80) return number;
      factor *= 128;
    }
    return this.fail("a number is too long");
  }

  signed() {
    const doubled = this.number();
    return doubled % 2 === 0 ? doubled / 2 : -(doubled + 1) / 2;
  }

  text() {
    const length = this.number();
    if (length > this.bytes.length - this.at) throw new CutOff();
    this.at += length;
    return new TextDecoder().decode(this.bytes.subarray(this.at - length, this.at));
  }

  json() {
    const text = this.text();
    try {
      return JSON.parse(text);
    } catch (error) {
      return this.fail(error.message);
    }
  }

  takeHeader(trace) {
    const header = this.json();
    const isRank = Number.isInteger(header.rank) && Array.isArray(header.hosts) && header.rank >= 0 && header.rank < header.hosts.length;
    if (!isRank || !Number.isFinite(header.start) || header.start < 0) this.fail("the header names no rank");
    Object.assign(trace, { rank: header.rank, hosts: header.hosts, host: String(header.host), version: String(header.lapse) });
    return Math.floor(header.start / 100);
  }

  takeTable(trace) {
    const table = this.json();
    const ranks = trace.hosts.length;
    const isDomain = (domain) => Number.isInteger(domain) && domain >= 0 && domain < ranks;
    if (!Array.isArray(table.domains) || table.domains.length !== ranks || !table.domains.every(isDomain))
      this.fail("the table has not a domain for each rank");
    if (!Number.isInteger(table.keys) || table.keys < 0) this.fail("the table has no number of keys");
    trace.tables.push({ id: table.id, name: String(table.name), keys: table.keys, home: String(table.home), domains: table.domains });
  }

  read() {
    const magic = new TextDecoder("latin1").decode(this.bytes.subarray(0, MAGIC.length));
    if (magic !== MAGIC) {
      const isOther = magic.slice(0, -1) === MAGIC.slice(0, -1);
      throw new TraceError(`${this.name}: ${isOther ? "this trace of allocation is of another version than this page reads"
        : `this is no trace of allocation, which begins with ${MAGIC}`}`);
    }
    this.at = MAGIC.length;
    const trace = { name: this.name, rank: -1, hosts: [], host: "", version: "", tables: [], changes: new Changes(), phases: [],
                    clocks: [], begin: 0, end: 0, dropped: null, isClosed: false };
    try {
      this.records(trace);
    } catch (error) {
      if (!(error instanceof CutOff)) throw error;
    }
    if (trace.rank < 0) this.fail("the trace has no header");
    return trace;
  }

  records(trace) {
    let ticks = 0, table = -1, isInPhase = false;
    const lastKeys = [];
    const { changes } = trace;
    while (this.at < this.bytes.length && !trace.isClosed) {
      const kind = this.bytes[this.at++];
      if (trace.rank < 0 && kind !== HEADER) this.fail("the trace does not begin with its header");
      if (kind >= CHANGE) {
        if (kind >= CHANGE + 8) this.fail("the change of a key has an unknown state");
        if (table < 0) this.fail("the change of a key is of no table");
        const now = ticks + this.number();
        const key = lastKeys[table] + this.signed();
        const { keys } = trace.tables[table];
        if (key < 0 || key > MAX_KEY || (keys > 0 && key >= keys)) this.fail(`the table has ${keys} keys, not key ${key}`);
        ticks = now;
        lastKeys[table] = key;
        changes.append(ticks, key, table, kind - CHANGE);
      } else if (kind === HEADER) {
        if (trace.rank >= 0) this.fail("the trace has a second header");
        ticks = this.takeHeader(trace);
        trace.begin = ticks;
      } else if (kind === TABLE) {
        this.takeTable(trace);
        lastKeys.push(0);
      } else if (kind === ON_TABLE) {
        const id = this.number();
        table = trace.tables.findIndex((one) => one.id === id);
        if (table < 0) this.fail(`there is no table ${id}`);
      } else if (kind === BEGIN) {
        ticks += this.number();
        trace.phases.push({ name: this.text(), begin: ticks, end: ticks });
        isInPhase = true;
      } else if (kind === END) {
        ticks += this.number();
        if (!isInPhase) this.fail("a phase ends that has not begun");
        trace.phases.at(-1).end = ticks;
        isInPhase = false;
      } else if (kind === DROPPED) {
        ticks += this.number();
        trace.dropped = ticks;
      } else if (kind === CLOCK) {
        ticks += this.number();
        trace.clocks.push({ ticks, lowest: this.signed(), highest: this.signed() });
      } else if (kind === CLOSE) {
        ticks += this.number();
        trace.isClosed = true;
      } else {
        this.fail(`there is no record of kind ${kind}`);
      }
      trace.end = ticks;
    }
  }
}

// `bytes`: a Uint8Array with the contents of a file. Throws TraceError. The last record may be cut off.
export function readRankTrace(bytes, name) {
  return new RankReader(bytes, name).read();
}
