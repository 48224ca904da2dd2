// write_traces.mjs <folder>: the trace files of a random run of four ranks, <folder>/random.<rank>.
import { writeFileSync } from "node:fs";
import { randomRun } from "./trace_writer.mjs";

const [folder] = process.argv.slice(2);
randomRun(4, 300, 5000, 1).files.forEach((bytes, rank) => writeFileSync(`${folder}/random.${rank}`, bytes));
