// Reads the trace of allocation of one rank: docs/allocation-traces.md describes the format.

export const OWNER = 1;
export const COPY = 2;
export const AWAITED = 4;

const MAGIC = "LAPSETR1";
const HEADER = 1, TABLE = 2, ON_TABLE = 3, BEGIN = 4, END = 5, DROPPED = 6, CLOCK = 7, CLOSE = 8, ROUND = 9, BAND = 10, NOTE = 11;
// Events of keys: what a domain has of the key; whether its intents want it; an access.
const CHANGE = 0x80, WANT = 0x88, ACCESS = 0x90;
export const WRITES = 1;
export const REMOTE = 2;
export const TICKS_PER_SECOND = 1e7;
const MAX_KEY = Number.MAX_SAFE_INTEGER;
const MAX_TEXT = 1 << 24;

export class TraceError extends Error {}

// Thrown where the file ends within a record.
class CutOff extends Error {}

// Events of keys of one kind, whose number is in states. Grows as events are appended.
class Events {
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

  // A number, and whether it is odd. Exact up to 2^53.
  parts() {
    const first = this.byte();
    let number = first & 0x7f, half = number >> 1;
    if (first >= 0x80) {
      let factor = 128;
      for (let i = 1;; ++i, factor *= 128) {
        if (i === 10) this.fail("a number or a text is too long");
        const next = this.byte();
        number += (next & 0x7f) * factor;
        half += (next & 0x7f) * (factor / 2);
        if (next < 0x80) break;
      }
    }
    return { number, half, isOdd: (first & 1) === 1 };
  }

  number() {
    return this.parts().number;
  }

  // Exact up to 2^53, too.
  signed() {
    const { half, isOdd } = this.parts();
    return isOdd ? -half - 1 : half;
  }

  text() {
    const length = this.number();
    if (length > MAX_TEXT) this.fail("a number or a text is too long");
    if (length > this.bytes.length - this.at) throw new CutOff();
    this.at += length;
    return new TextDecoder().decode(this.bytes.subarray(this.at - length, this.at));
  }

  json() {
    const text = this.text();
    try {
      return Object(JSON.parse(text));
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

  takeTable(trace, made) {
    const table = this.json();
    const ranks = trace.hosts.length;
    const isDomain = (domain) => Number.isInteger(domain) && domain >= 0 && domain < ranks;
    if (!Array.isArray(table.domains) || table.domains.length !== ranks || !table.domains.every(isDomain))
      this.fail("the table has not a domain for each rank");
    if (!Number.isInteger(table.keys) || table.keys < 0) this.fail("the table has no number of keys");
    trace.tables.push({ made, id: table.id, name: String(table.name), keys: table.keys, home: String(table.home), domains: table.domains });
  }

  read() {
    const magic = new TextDecoder("latin1").decode(this.bytes.subarray(0, MAGIC.length));
    if (magic !== MAGIC) {
      const isOther = magic.slice(0, -1) === MAGIC.slice(0, -1);
      throw new TraceError(`${this.name}: ${isOther ? "this trace of allocation is of another version than this page reads"
        : `this is no trace of allocation, which begins with ${MAGIC}`}`);
    }
    this.at = MAGIC.length;
    const trace = { name: this.name, rank: -1, hosts: [], host: "", version: "", tables: [], changes: new Events(), wants: new Events(),
                    accesses: new Events(), phases: [], bands: [], notes: new Map(), clocks: [], begin: 0, end: 0, dropped: null, isClosed: false };
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
    while (this.at < this.bytes.length && !trace.isClosed) {
      const kind = this.bytes[this.at++];
      if (trace.rank < 0 && kind !== HEADER) this.fail("the trace does not begin with its header");
      if (kind >= CHANGE) {
        const isAccess = kind >= ACCESS;
        if (kind >= ACCESS + 4 || (kind >= WANT + 2 && !isAccess)) this.fail(`there is no record of kind ${kind}`);
        if (table < 0) this.fail("an event of a key is of no table");
        const now = ticks + this.number();
        const key = lastKeys[table] + this.signed();
        const { keys } = trace.tables[table];
        if (Math.abs(key) > MAX_KEY) throw new TraceError(`${this.name}: this page shows keys up to 2^53, not ${key}`);
        if (key < 0 || (keys > 0 && key >= keys)) this.fail(`the table has ${keys} keys, not key ${key}`);
        ticks = now;
        lastKeys[table] = key;
        if (isAccess) trace.accesses.append(ticks, key, table, kind - ACCESS);
        else if (kind >= WANT) trace.wants.append(ticks, key, table, kind - WANT);
        else trace.changes.append(ticks, key, table, kind - CHANGE);
      } else if (kind === HEADER) {
        if (trace.rank >= 0) this.fail("the trace has a second header");
        ticks = this.takeHeader(trace);
        trace.begin = ticks;
      } else if (kind === TABLE) {
        ticks += this.number();
        this.takeTable(trace, ticks);
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
      } else if (kind === ROUND) {
        ticks += this.number();
      } else if (kind === BAND) {
        ticks += this.number();
        const end = this.number(), begin = this.number();
        if (begin > ticks || end > begin) this.fail("a band begins before the clock, or after its end");
        trace.bands.push({ name: this.text(), begin: ticks - begin, end: ticks - end });
      } else if (kind === NOTE) {
        ticks += this.number();
        const note = this.text();
        trace.notes.set(note, this.text());
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
