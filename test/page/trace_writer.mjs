// Traces of allocation for tests of the viewer's page.

export class TraceWriter {
  constructor(rank, hosts, start = 0) {
    this.bytes = new Uint8Array(1024);
    this.count = 0;
    for (const character of "LAPSETR1") this.byte(character.charCodeAt(0));
    this.text(1, JSON.stringify({ lapse: "0", rank, hosts, host: "h", start }));
    this.lastKeys = new Map();
  }

  byte(byte) {
    if (this.count === this.bytes.length) {
      const grown = new Uint8Array(2 * this.count);
      grown.set(this.bytes);
      this.bytes = grown;
    }
    this.bytes[this.count++] = byte;
  }

  number(number) {
    let rest = number;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.byte(rest % 128 + 128);
    this.byte(rest);
    return this;
  }

  signed(number) {
    const half = number < 0 ? -number - 1 : number;
    const first = half % 64 * 2 + (number < 0 ? 1 : 0);
    if (half < 64) {
      this.byte(first);
      return this;
    }
    this.byte(first + 128);
    return this.number(Math.floor(half / 64));
  }

  text(kind, text) {
    if (kind !== null) this.byte(kind);
    const bytes = new TextEncoder().encode(text);
    this.number(bytes.length);
    bytes.forEach((byte) => this.byte(byte));
    return this;
  }

  table(id, name, keys, domains) {
    this.byte(2);
    this.number(0);
    return this.text(null, JSON.stringify({ id, name, keys, home: "hash", domains })).onTable(id);
  }

  onTable(id) {
    this.id = id;
    this.byte(3);
    return this.number(id);
  }

  change(ticks, key, state) {
    this.byte(0x80 + state);
    this.number(ticks).signed(key - (this.lastKeys.get(this.id) ?? 0));
    this.lastKeys.set(this.id, key);
    return this;
  }

  // `on`: whether intents of the domain want the key.
  want(ticks, key, on) {
    return this.change(ticks, key, on ? 9 : 8);
  }

  // `kind`: 1 writes, 2 by messages.
  access(ticks, key, kind) {
    return this.change(ticks, key, 16 + kind);
  }

  round(ticks) {
    this.byte(9);
    return this.number(ticks);
  }

  // `end`, `begin`: how many ticks ago.
  band(ticks, end, begin, name) {
    this.byte(10);
    return this.number(ticks).number(end).number(begin).text(null, name);
  }

  note(ticks, name, value) {
    this.byte(11);
    return this.number(ticks).text(null, name).text(null, value);
  }

  clock(ticks, lowest, highest) {
    this.byte(7);
    return this.number(ticks).signed(lowest).signed(highest);
  }

  begin(ticks, name) {
    this.byte(4);
    return this.number(ticks).text(null, name);
  }

  end(ticks) {
    this.byte(5);
    return this.number(ticks);
  }

  done(ticks) {
    this.byte(8);
    return this.number(ticks).contents();
  }

  contents() {
    return this.bytes.slice(0, this.count);
  }
}

// A reproducible number in [0, bound), as a generator of them: Numerical Recipes' multiplier.
export function randomNumbers(seed) {
  let state = seed >>> 0;
  return (bound) => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return Math.floor(state / 2 ** 32 * bound);
  };
}

// A run of several domains, one rank each, in which keys move at random; and the truth: its changes by time.
export function randomRun(domains, keys, changes, seed) {
  const random = randomNumbers(seed);
  const hosts = new Array(domains).fill(0);
  const places = hosts.map((_, domain) => domain);
  const writers = hosts.map((_, domain) => new TraceWriter(domain, hosts).table(0, "t", keys, places));
  const ticks = new Array(domains).fill(0);
  const owners = new Uint8Array(keys), copies = new Uint32Array(keys);
  const truth = [];
  let now = 0;
  const change = (domain, key, state) => {
    writers[domain].change(now - ticks[domain], key, state);
    ticks[domain] = now;
    truth.push({ time: now / 1e7, key, domain, state });
  };
  for (let key = 0; key < keys; ++key) {
    owners[key] = random(domains);
    change(owners[key], key, 1);
  }
  for (let i = 0; i < changes; ++i) {
    now += 1 + random(20);
    const key = random(keys), to = random(domains);
    if (to === owners[key]) continue;
    if (random(3) === 0) {
      copies[key] ^= 1 << to;
      change(to, key, copies[key] >>> to & 1 ? 2 : 0);
    } else {
      change(owners[key], key, 0);
      now += 1;
      copies[key] &= ~(1 << to);
      owners[key] = to;
      change(to, key, 1);
    }
  }
  return { files: writers.map((writer, domain) => writer.done(now + 10 - ticks[domain])), truth };
}
