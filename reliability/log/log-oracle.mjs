import { applyChange, applyCommit, differenceOf } from "./script-of-commits.mjs";

/**
 * What the writers have told of their commits, from which the state after each commit follows. A
 * commit whose end was not seen has happened if the feed has it.
 */
export class LogOracle {
  /** The commits whose begin was seen, by id. */
  #begun = new Map();
  /** The versionstamps of the commits that were acknowledged, by id. */
  acknowledged = new Map();
  #refused = new Set();
  /** What the processes have reported as wrong. */
  problems = [];
  /** The commits of the feed that have an id, in its order: their versionstamps and ids. */
  #feed = [];

  /** Notes a line that a writer has printed. The last one may be incomplete. */
  note(line) {
    const [word, ...rest] = line.split(" ");
    if (word === "begin" && line.endsWith("}")) {
      const commit = JSON.parse(rest.join(" "));
      this.#begun.set(commit.id, commit);
    } else if (word === "done" && rest[1]?.length === 20) this.acknowledged.set(rest[0], rest[1]);
    else if (word === "refused" && this.#begun.has(rest[0])) this.#refused.add(rest[0]);
    else if (word === "error") this.problems.push(rest.join(" "));
  }

  /** The versionstamps of the commits that the feed has, in their order. */
  get versionstamps() {
    return this.#feed.map(({ versionstamp }) => versionstamp);
  }

  /**
   * Compares the feed with what the writers have told, and returns what is wrong in words.
   *
   * @param upTo the versionstamps of acknowledged commits that must be in the feed: all of them up
   * to this one.
   */
  async readFeed(feed, upTo = "f".repeat(20)) {
    this.#feed = [];
    const problems = [];
    const seen = new Map();
    const [told, logged] = [new Map(), new Map()];
    let last = "";
    for await (const { versionstamp, context, changes } of feed) {
      if (versionstamp <= last) problems.push(`order: ${versionstamp} comes after ${last}`);
      last = versionstamp;
      for (const change of changes) applyChange(logged, change);
      const id = context?.id;
      // The removal of entries that have expired has no id.
      if (id === undefined) {
        if (changes.some(({ key }) => key[0] !== "brief"))
          problems.push(`more: ${versionstamp} is of no writer`);
        continue;
      }
      const commit = this.#begun.get(id);
      if (commit === undefined) problems.push(`more: ${id} was not begun`);
      else applyCommit(told, commit);
      if (seen.has(id)) problems.push(`twice: ${id}`);
      if (this.#refused.has(id)) problems.push(`more: ${id} was refused`);
      const acknowledged = this.acknowledged.get(id) ?? versionstamp;
      if (acknowledged !== versionstamp) problems.push(`other: ${id} was ${acknowledged}`);
      seen.set(id, versionstamp);
      this.#feed.push({ versionstamp, id });
      const difference = seen.size % 50 === 0 ? differenceOf(logged, told) : undefined;
      if (difference !== undefined) problems.push(`feed: at ${versionstamp} ${difference}`);
      if (problems.length > 5) return problems;
    }
    for (const [id, versionstamp] of this.acknowledged) {
      if (versionstamp <= upTo && !seen.has(id) && !mayChangeNothing(this.#begun.get(id)))
        problems.push(`missing: ${id} of ${versionstamp}`);
    }
    const difference = differenceOf(logged, told);
    if (difference !== undefined) problems.push(`feed: at its end ${difference}`);
    return problems.slice(0, 5);
  }

  /** Yields the states after the commits with these versionstamps, which are in order. */
  *statesAt(versionstamps) {
    const state = new Map();
    let next = 0;
    for (const versionstamp of versionstamps) {
      while (next < this.#feed.length && this.#feed[next].versionstamp <= versionstamp)
        applyCommit(state, this.#begun.get(this.#feed[next++].id));
      yield { versionstamp, state };
    }
  }

  /** Returns the state after the commit with a versionstamp. By default, it is the last one. */
  stateAt(versionstamp = "f".repeat(20)) {
    return [...this.statesAt([versionstamp])][0].state;
  }
}

/**
 * True if all keys of a commit are deleted in the end. If they were absent, the log has no record.
 */
function mayChangeNothing({ changes }) {
  const last = new Map();
  for (const [kind, number] of changes)
    last.set(`${kind.replace("delete", "").toLowerCase() || "set"} ${number}`, kind);
  return [...last.values()].every((kind) => kind.startsWith("delete"));
}
