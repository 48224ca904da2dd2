// The guided tour: what to look at, with the tool that shows it.

// `find`: a part of the names of the runs that a station shows, if the page has such runs.
export const STATIONS = [
  { title: "Distributed training and parameter servers", tool: "summary", find: ["static"],
    text: ["A model has more parameters than one machine should hold, and many workers that train it. A parameter server gives all workers access to all parameters: pull reads, push adds.",
           "The parameters are spread over domains: processes, or hosts whose processes share memory. An access to a parameter in memory takes a fraction of a microsecond; an access to one of another host takes a message there and back."] },
  { title: "Static allocation, and its traffic", tool: "replay", find: ["static"],
    text: ["A classic parameter server places each parameter once, by its key. Press play: nothing moves.",
           "With N domains, a worker finds one of N accesses in memory. All others are messages, in every epoch again."] },
  { title: "Dynamic allocation and localize", tool: "replay", find: ["dynamic"],
    text: ["Here parameters move at run time to the workers that are about to use them: a worker calls localize, and the parameter arrives while the worker computes. Any worker can still reach any parameter.",
           "Press play: colours change as owners do. A click on a square follows this parameter through all tools."] },
  { title: "Matrix factorization: clusters of rows, blocks of columns", tool: "map", find: ["factorization", "dynamic"],
    text: ["A worker has all ratings of its users, so their rows move to it once, in one wave at the start: data clustering.",
           "Columns are shared. Each worker takes one block of columns after the other, so whole blocks change their owner at each step: parameter blocking."] },
  { title: "Knowledge graphs: clusters of relations, hidden latency", tool: "map", find: ["graph", "dynamic"],
    text: ["Triples of one relation are trained by one worker: relations move once.",
           "Entities are needed everywhere. They are localized some batches before they are used, so that they arrive in time: latency hiding. They move often, and without pattern."] },
  { title: "Adaptive management", tool: "layers", find: ["adaptive"],
    text: ["Workers say which parameters they are about to access: intents. The manager relocates a parameter that one domain wants, and replicates one that several want at a time.",
           "Each domain has a lane: full bars are where it owns the parameter, half bars where it has a replica, dark lines above when its intents want it. The manager acts on an intent shortly before its accesses begin, and no more is done for a parameter that no domain wants."] },
];

// The runs that fit a station best; all of them if none does.
export function runsOf(station, runs) {
  const fit = (run) => station.find.filter((part) => run.name.includes(part)).length;
  const best = Math.max(...runs.map(fit));
  return runs.filter((run) => fit(run) === best);
}
