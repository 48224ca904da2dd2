// Follows traces that lapse-viewer serves while jobs write them.
import { readRankTrace } from "./trace_file.mjs";

async function answerOf(path, parameters) {
  const token = new URLSearchParams(location.search).get("token") ?? "";
  const answer = await fetch(`${path}?${new URLSearchParams({ ...parameters, token })}`);
  if (!answer.ok) throw new Error(`${path}: status ${answer.status}`);
  return answer;
}

// [{ name, problem, start, files: [{ file, bytes }] }]. `start`: differs if a job has begun the files anew.
export async function listRuns() {
  return (await answerOf("runs", {})).json();
}

// The bytes of a file, as far as they are there.
class GrowingBytes {
  constructor() {
    this.space = new Uint8Array(1 << 16);
    this.count = 0;
  }

  append(more) {
    if (this.count + more.length > this.space.length) {
      const grown = new Uint8Array(2 * (this.count + more.length));
      grown.set(this.space.subarray(0, this.count));
      this.space = grown;
    }
    this.space.set(more, this.count);
    this.count += more.length;
  }

  bytes() {
    return this.space.subarray(0, this.count);
  }
}

// The files of one run.
export class FollowedRun {
  constructor(number) {
    this.number = number;
    this.forget();
  }

  forget() {
    this.ranks = [];
    this.start = null;
  }

  // Fetches what is new. Returns whether there is a trace to show and it has grown.
  async update(start, files) {
    const isShorter = files.some(({ bytes }, rank) => bytes < (this.ranks[rank]?.contents.count ?? 0));
    if (start !== this.start || isShorter) this.forget();
    this.start = start;
    let hasGrown = false;
    for (const [rank, { file, bytes }] of files.entries()) {
      this.ranks[rank] ??= { file, contents: new GrowingBytes() };
      const { contents } = this.ranks[rank];
      while (contents.count < bytes) {
        const answer = await answerOf("file", { run: this.number, rank, from: contents.count });
        const more = new Uint8Array(await answer.arrayBuffer());
        if (more.length === 0) break;
        contents.append(more);
        hasGrown = true;
      }
    }
    return hasGrown && this.ranks.every(({ contents }) => contents.count > 0);
  }

  traces() {
    return this.ranks.map(({ file, contents }) => readRankTrace(contents.bytes(), file));
  }
}
