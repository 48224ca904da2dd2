// The page's reader of traces, and its index of keys and times, beside a brute force. Run by node --test.
import assert from "node:assert/strict";
import test from "node:test";

import { NOWHERE, focusedKeys, mergeTraces } from "../../apps/viewer/page/allocation.mjs";
import { gridOf } from "../../apps/viewer/page/replay_view.mjs";
import { lanesOf, layeredKeys } from "../../apps/viewer/page/layers_view.mjs";
import { sensibleKeys } from "../../apps/viewer/page/map_view.mjs";
import { TraceError, readRankTrace } from "../../apps/viewer/page/trace_file.mjs";
import { STATIONS, runsOf } from "../../apps/viewer/page/tour.mjs";
import { TraceWriter, randomNumbers, randomRun } from "./trace_writer.mjs";

const runOf = (files) => mergeTraces(files.map((bytes, rank) => readRankTrace(bytes, `t.${rank}`)), "run");

// The owner and replicas of all keys after the changes up to a time.
function stateByHand(truth, keys, time) {
  const owners = new Uint8Array(keys).fill(NOWHERE), copies = new Uint32Array(keys);
  for (const change of truth) {
    if (change.time > time) break;
    if (change.state === 1) owners[change.key] = change.domain;
    copies[change.key] = change.state & 2 ? copies[change.key] | 1 << change.domain : copies[change.key] & ~(1 << change.domain);
  }
  return { owners, copies };
}

test("the state at any time is that of all changes before it", () => {
  const keys = 50;
  const { files, truth } = randomRun(4, keys, 200000, 1);
  const [table] = runOf(files).tables;
  assert.equal(table.count, truth.length);
  const random = randomNumbers(2);
  const end = truth.at(-1).time;
  assert.ok(table.stored.length > 2, "the index has several states");
  for (let i = 0; i < 30; ++i) {
    const time = i === 0 ? 0 : random(1e6) / 1e6 * end;
    const byHand = stateByHand(truth, keys, time);
    assert.deepEqual(table.stateAt(time), byHand);
    const later = Math.min(end, time + random(1000) / 1e6);
    assert.deepEqual(table.advance(table.stateAt(time), time, later), stateByHand(truth, keys, later));
  }
});

test("affinity, flows, rates and the keys that move are those of the relocations", () => {
  const keys = 30, domains = 3;
  const { files, truth } = randomRun(domains, keys, 3000, 5);
  const run = runOf(files);
  const [table] = run.tables;
  const owners = new Map();
  const flows = new Float64Array(domains * domains), moves = new Array(keys).fill(0);
  const seconds = Array.from({ length: keys }, () => new Float64Array(domains));
  for (const { time, key, domain, state } of truth) {
    if (state !== 1) continue;
    const before = owners.get(key);
    if (before) {
      seconds[key][before.domain] += time - before.time;
      ++flows[before.domain * domains + domain];
      ++moves[key];
    }
    owners.set(key, { domain, time });
  }
  for (const [key, { domain, time }] of owners) seconds[key][domain] += run.duration - time;
  assert.deepEqual(table.flows(), flows);
  const total = moves.reduce((sum, count) => sum + count, 0);
  assert.equal(table.relocations, total);
  assert.equal(table.rates(run.duration, 7).relocations.reduce((sum, count) => sum + count, 0), total);
  for (let key = 0; key < keys; ++key) {
    const affinity = table.affinity(key, run.duration);
    affinity.seconds.forEach((part, domain) => assert.ok(Math.abs(part - seconds[key][domain]) < 1e-9));
    assert.equal(affinity.arrivals.reduce((sum, count) => sum + count, 0), moves[key]);
  }
  const focused = Uint32Array.of(4, 7);
  assert.equal(table.flows(focused).reduce((sum, count) => sum + count, 0), moves[4] + moves[7]);
  assert.equal(table.rates(run.duration, 3, focused).relocations.reduce((sum, count) => sum + count, 0), moves[4] + moves[7]);
  const most = table.mostMoved(3);
  assert.equal(most[0].moves, Math.max(...moves));
  assert.deepEqual(most.map(({ key }) => moves[key]), [...moves].sort((a, b) => b - a).slice(0, 3));
});

test("keys of a sparse table have places by their order", () => {
  const writer = new TraceWriter(0, [0]).table(3, "s", 0, [0]).change(0, 2 ** 40, 1).change(1, 7, 1).change(1, 900, 1);
  const [table] = runOf([writer.done(5)]).tables;
  assert.deepEqual([...table.keyNumbers], [7, 900, 2 ** 40]);
  assert.deepEqual([...table.stateAt(1.5e-7).owners], [0, NOWHERE, 0]);
  assert.deepEqual([...focusedKeys(table, " 8 - 1000, 7")], [0, 1]);
  assert.equal(focusedKeys(table, " "), null);
  for (const text of ["x", "5-3", "1,,2", "-1"]) assert.throws(() => focusedKeys(table, text), TraceError);
});

test("phases and clocks of other hosts are on one axis of time", () => {
  const first = new TraceWriter(0, [0, 1], 0).clock(0, -50, 50).table(0, "t", 9, [0, 1]).change(0, 1, 1).begin(100, "phase").end(400).note(0, "technique", "localize").band(0, 0, 300, "epoch 1").note(0, "technique", "adaptive").clock(500, -50, 50);
  const second = new TraceWriter(1, [0, 1], 40000).clock(0, 39950, 40050).table(0, "t", 9, [0, 1]).change(500, 1, 1).clock(500, 59950, 60050);
  const run = runOf([first.done(0), second.done(0)]);
  assert.deepEqual(run.phases, [{ name: "phase", begin: 1e-5, end: 5e-5 }]);
  assert.deepEqual(run.bands, [{ name: "epoch 1", begin: 2e-5, end: 5e-5 }]);
  assert.deepEqual([...run.notes], [["technique", "adaptive"]]);
  assert.ok(Math.abs(run.tables[0].times[1] - 4e-5) < 1e-9);
});

test("wants, accesses and roles of a key are lanes of its domains", () => {
  const first = new TraceWriter(0, [0, 0]).table(0, "t", 9, [0, 1]).change(0, 4, 1).want(10, 4, true).access(5, 4, 0).round(1)
    .change(14, 4, 2).want(10, 4, false).change(5, 4, 0).access(5, 4, 3).done(0);
  const second = new TraceWriter(1, [0, 0]).table(0, "t", 9, [0, 1]).change(0, 6, 1).want(20, 4, true).change(15, 4, 1)
    .access(5, 4, 1).access(0, 8, 1).done(60);
  const [table] = runOf([first, second]).tables;
  assert.deepEqual([...table.keyNumbers], [4, 6, 8]);
  assert.equal(table.wants.count, 3);
  assert.equal(table.accesses.count, 4);
  assert.equal(table.remoteAccesses, 1);
  const kinds = [];
  table.accesses.forEach(0, (access) => kinds.push([table.accesses.domains[access], table.accesses.states[access]]));
  assert.deepEqual(kinds, [[0, 0], [1, 1], [0, 3]]);
  const near = (list) => list.map(({ from, to }) => [Math.round(from * 1e7), Math.round(to * 1e7)]);
  const [zero, one] = lanesOf(table, 0, 1e-5);
  assert.deepEqual([near(zero.owned), near(zero.copied), near(zero.wanted)], [[[0, 35]], [[30, 45]], [[10, 40]]]);
  assert.deepEqual([near(one.owned), near(one.copied), near(one.wanted)], [[[35, 100]], [], [[20, 100]]]);
  assert.deepEqual(layeredKeys(table, null, 2), [2, 0, 1]);
  assert.deepEqual(layeredKeys(table, Uint32Array.of(1), -1), [1]);
  assert.throws(() => readRankTrace(new TraceWriter(0, [0]).table(0, "t", 9, [0]).change(0, 1, 10).contents(), "t.0"), /no record of kind 138/);
});

test("ranks of a host have one clock, also where numbers are large", () => {
  const days = 60 * 86400 * 1e9;
  const trace = (rank, start, lowest, highest, at) =>
    new TraceWriter(rank, [0, 1, 1], start).table(0, "t", 9, [0, 1, 2]).clock(0, lowest, highest).change(at, 1, 1).done(0);
  const [table] = runOf([trace(0, days, -9, 9, 0), trace(1, 0, -days - 20000, -days, 100), trace(2, 0, -days, 20000 - days, 101)]).tables;
  assert.deepEqual([...table.changeDomains], [0, 1, 2]);
  assert.ok(Math.abs(table.times[2] - table.times[1] - 1e-7) < 1e-9);
  assert.ok(Math.abs(table.times[1] - 1e-5) < 1e-7);
});

test("what is no trace, or not of one run, is refused with its name", () => {
  const bytes = (text) => new TextEncoder().encode(text);
  const refused = (contents, problem) => assert.throws(() => readRankTrace(contents, "file.0"),
    (error) => error instanceof TraceError && error.message.startsWith("file.0") && problem.test(error.message));
  refused(bytes("PNG"), /no trace of allocation/);
  refused(bytes(""), /no trace of allocation/);
  refused(bytes("LAPSETR9"), /another version/);
  refused(bytes("LAPSETR1"), /no header/);
  refused(bytes("LAPSETR1\x01\x04{...}"), /damaged at byte/);
  refused(new TraceWriter(2, [0]).contents(), /names no rank/);
  refused(new TraceWriter(0, [0]).table(0, "t", 5, [0]).change(0, 5, 1).contents(), /5 keys, not key 5/);
  refused(new TraceWriter(0, [0]).table(0, "t", 5, [1]).contents(), /domain for each rank/);
  refused(bytes("LAPSETR1\x01\x04null"), /names no rank/);
  refused(new TraceWriter(0, [0]).end(0).contents(), /not begun/);
  refused(new TraceWriter(0, [0]).table(0, "t", 0, [0]).change(0, 2 ** 53, 1).contents(), /up to 2\^53/);
  const one = new TraceWriter(0, [0, 0]).contents();
  assert.throws(() => runOf([one]), /rank 1 of 2 is missing/);
  assert.throws(() => runOf([one, one]), /two traces of rank 0/);
});

test("a file that is cut off is read to there, and damaged ones are read or refused", () => {
  const { files } = randomRun(1, 20, 100, 3);
  let changes = 0;
  for (let size = 200; size < files[0].length; ++size) {
    const trace = readRankTrace(files[0].slice(0, size), "t.0");
    assert.ok(trace.changes.count >= changes && !trace.isClosed);
    changes = trace.changes.count;
  }
  const random = randomNumbers(9);
  for (let round = 0; round < 3000; ++round) {
    const damaged = files[0].slice();
    for (let i = 0; i <= random(3); ++i) damaged[random(damaged.length)] = random(256);
    try {
      runOf([damaged]);
    } catch (error) {
      assert.ok(error instanceof TraceError, error.stack);
    }
  }
});

test("a million keys and ten million changes are read in seconds, and any time of them shown at once", { skip: !process.env.LAPSE_LARGE_TRACE }, () => {
  const { files } = randomRun(4, 1e6, 6e6, 4);
  const begin = performance.now();
  const run = runOf(files);
  const [table] = run.tables;
  const read = performance.now() - begin;
  const times = [];
  for (let i = 0; i < 20; ++i) {
    const jump = performance.now();
    table.stateAt(run.duration * (i + 0.5) / 20);
    times.push(performance.now() - jump);
  }
  const bytes = files.reduce((sum, file) => sum + file.length, 0);
  console.log(`${table.count} changes, ${(bytes / table.count).toFixed(2)} bytes each: read in ${(read / 1e3).toFixed(2)} s; jumps ${Math.max(...times).toFixed(0)} ms`);
});

test("squares fill a place, chosen keys are sensible, and stations find their runs", () => {
  for (const count of [1, 7, 400, 33692, 1e6]) {
    const { size, columns } = gridOf(count, 1200, 520);
    assert.ok(size >= 1 && columns * size <= 1200);
    if (size > 1) assert.ok(Math.ceil(count / columns) * size <= 520);
  }
  const { files } = randomRun(2, 500, 100, 3);
  const [table] = runOf(files).tables;
  const some = sensibleKeys(table, null, false, -1);
  assert.ok(some.length > 30 && some.length <= 40 && some.at(-1) > 400);
  assert.equal(sensibleKeys(table, null, true, -1).length, 500);
  assert.deepEqual([...sensibleKeys(table, Uint32Array.of(3), false, -1)], [3]);
  assert.deepEqual([...sensibleKeys(table, Uint32Array.of(3), false, 9)], [3, 9]);
  const runs = ["factorization static", "graph dynamic", "adaptive"].map((name) => ({ name }));
  assert.equal(STATIONS.length, 6);
  assert.deepEqual(STATIONS.map((station) => runsOf(station, runs)[0].name),
    ["factorization static", "factorization static", "graph dynamic", "factorization static", "graph dynamic", "adaptive"]);
});
