import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const script = fileURLToPath(new URL("commit-until-killed.mjs", import.meta.url));
/** A message that has not come for so long does not come any more. */
const millisecondsToAMessage = 20_000;

/**
 * One database, in which other processes commit until they are killed. After each kill the database
 * is opened here and verified.
 */
export class CrashRun {
  /** Processes that were killed. */
  cycles = 0;
  #openKv;
  #path;
  #round = 0;
  /** The number of each acknowledged commit → its versionstamp. */
  #acknowledged = new Map();
  /** The numbers whose message has reached a handler. */
  #delivered = new Set();
  #lastVersionstamp = "";

  /** @param openKv the one that opens the database here; the other process has its own. */
  constructor(openKv, path) {
    this.#openKv = openKv;
    this.#path = path;
  }

  /** How many commits were acknowledged in all cycles. */
  get acknowledged() {
    return this.#acknowledged.size;
  }

  /**
   * Lets another process commit with a durability until it is killed after a number of acknowledged
   * commits, or with 0 while it opens the database. Every second process also receives the
   * messages. Every fourth kills itself right after the last acknowledgement. The others are killed
   * from here.
   *
   * @returns what is wrong with the database after that, in words: nothing, if all is well.
   */
  async cycle(durability, acknowledgements) {
    const ofCycle = await this.#commitAndCrash(durability, acknowledgements);
    const kv = await this.#openKv(this.#path, { durability: "relaxed" });
    try {
      return [
        ...this.#problemsOfGrowth(ofCycle),
        ...(await this.#problemsOfEntries(kv)),
        ...(await this.#problemsOfMessages(kv)),
      ];
    } finally {
      await kv.close();
    }
  }

  /** The commits that were acknowledged before the process was killed, by their number. */
  async #commitAndCrash(durability, acknowledgements) {
    const round = this.#round++;
    const task = {
      path: this.#path,
      durability,
      round,
      listens: round % 2 === 1,
      last: acknowledgements > 0 && round % 4 === 0 ? acknowledgements : undefined,
    };
    const child = spawn(process.execPath, [script, JSON.stringify(task)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exit = once(child, "exit");
    const ofCycle = new Map();
    for await (const line of createInterface({ input: child.stdout })) {
      const [what, id, versionstamp] = line.split(" ");
      // The last line may be half there.
      if (what === "committed" && versionstamp?.length === 20) ofCycle.set(id, versionstamp);
      if (what === "delivered") this.#delivered.add(id);
      if (task.last === undefined && ofCycle.size >= acknowledgements) killSoon(child);
    }
    const [code, signal] = await exit;
    if (signal !== "SIGKILL") throw new Error(`the process was not killed: it ended with ${code}`);
    this.cycles++;
    return ofCycle;
  }

  #problemsOfGrowth(ofCycle) {
    const problems = [];
    for (const [id, versionstamp] of ofCycle) {
      if (versionstamp <= this.#lastVersionstamp)
        problems.push(`${id} has ${versionstamp}, not after ${this.#lastVersionstamp}`);
      if (this.#acknowledged.has(id)) problems.push(`${id} was acknowledged twice`);
      this.#acknowledged.set(id, versionstamp);
    }
    return problems;
  }

  async #problemsOfEntries(kv) {
    const [left, right, lasting, fleeting] = await Promise.all(
      ["left", "right", "lasting", "fleeting"].map((name) => versionstamps(kv, name)),
    );
    const problems = [];
    for (const [id, versionstamp] of this.#acknowledged) {
      if (left.get(id) !== versionstamp)
        problems.push(`lost: ${id} of ${versionstamp}, there is ${left.get(id)}`);
    }
    for (const id of new Set([...left.keys(), ...right.keys(), ...lasting.keys()])) {
      const [a, b, c] = [left, right, lasting].map((found) => found.get(id));
      if (a !== b || a !== c) problems.push(`half: ${id} is there with ${a}, ${b} and ${c}`);
    }
    const counted = (await kv.get(["commits"])).value?.value ?? 0n;
    if (counted !== BigInt(left.size))
      problems.push(`half: ${left.size} commits are there, and ${counted} were counted`);
    for (const id of fleeting.keys()) problems.push(`expired, and there: ${id}`);
    const { versionstamp } = await kv.set(["last versionstamp"], null);
    for (const [id, ofCommit] of left) {
      if (ofCommit >= versionstamp) problems.push(`${id} has ${ofCommit}, after ${versionstamp}`);
    }
    this.#lastVersionstamp = versionstamp;
    return problems;
  }

  /** Takes the messages that are left: each commit that is there has had one, and no other has. */
  async #problemsOfMessages(kv) {
    const stored = await versionstamps(kv, "left");
    const awaited = new Set(stored.keys());
    for (const id of this.#delivered) awaited.delete(id);
    let isDone;
    const done = new Promise((resolve) => {
      isDone = resolve;
    });
    const patience = setTimeout(isDone, millisecondsToAMessage);
    const listening = kv.listenQueue((id) => {
      this.#delivered.add(id);
      awaited.delete(id);
      patience.refresh();
      if (awaited.size === 0) isDone();
    });
    if (awaited.size > 0) await done;
    clearTimeout(patience);
    await kv.close();
    await listening;
    const problems = [...awaited].map((id) => `lost: the message of ${id}`);
    for (const id of this.#delivered)
      if (!stored.has(id)) problems.push(`half: a message of ${id}, which is not there`);
    return problems;
  }
}

/**
 * Kills a process after a few random milliseconds, so that it is not always killed after it prints.
 */
function killSoon(child) {
  setTimeout(() => child.kill("SIGKILL"), Math.random() * 8);
}

/** The versionstamps of all entries under a prefix, by their number. */
async function versionstamps(kv, prefix) {
  const found = new Map();
  for await (const { key, value, versionstamp } of kv.list(
    { prefix: [prefix] },
    { batchSize: 500 },
  )) {
    if (value.id !== key[1]) throw new Error(`${key[1]} has the value of ${value.id}`);
    found.set(value.id, versionstamp);
  }
  return found;
}
