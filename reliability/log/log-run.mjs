import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { openKv } from "@keywright/core";
import { folderSink, restore } from "@keywright/core/backup";
import { openDatabase, placeOf } from "../shared/open-database.mjs";
import { LogOracle } from "./log-oracle.mjs";
import { differenceOf, readState } from "./script-of-commits.mjs";

const programs = {
  writer: "write-commits.mjs",
  feed: "follow-feed.mjs",
  backup: "back-up.mjs",
  restore: "restore-moment.mjs",
};
const longestLife = 400;

/**
 * Runs a writer, a replica that follows the feed, and backups of one database in processes of their
 * own, kills one of them after another, and restores that are made at the same time. In the end, it
 * compares the feed, the replica, restored backups and earlier states with what the writers have
 * told.
 *
 * @param kills how many processes are killed.
 * @param moments how many earlier states are compared. One in ten of them is also restored.
 * @returns `{ kills, commits, moments, restored, problems }`: the kills by role, counts, and what
 * is wrong in words.
 */
export async function runLog({ place, server, kills, moments, random, clients = 8, pause = 30 }) {
  const run = new LogRun(place, server, random, { clients, pause });
  try {
    await run.begin();
    for (let i = 0; i < kills && !run.hasFailed; i++) await run.killOne();
    await run.end();
    if (!run.hasFailed) await run.compare(moments);
  } catch (error) {
    run.oracle.problems.push(`the run failed: ${error.stack}`);
  } finally {
    await run.remove();
  }
  const { counts, oracle } = run;
  return { ...counts, commits: oracle.acknowledged.size, problems: oracle.problems };
}

class LogRun {
  oracle = new LogOracle();
  counts = { kills: { writer: 0, feed: 0, backup: 0, restore: 0 }, moments: 0, restored: 0 };
  #place;
  #server;
  #random;
  #work;
  #root;
  #where;
  #processes = new Map();
  #started = 0;
  /** The versionstamps of the states that the backups have, in the order of the backups. */
  #backups = [];
  /** How many full backups stay. The oldest moments stay only without it. */
  #keep;
  /** The states that were restored while the others worked, by versionstamp. */
  #restored = [];

  constructor(place, server, random, work) {
    this.#place = place;
    this.#server = server;
    this.#random = random;
    this.#work = work;
    this.#keep = random.next() < 0.25 ? 2 : undefined;
  }

  get hasFailed() {
    return this.oracle.problems.length > 0;
  }

  get #sinkPath() {
    return join(this.#root, "backups");
  }

  get #replicaPath() {
    return join(this.#root, "replica");
  }

  /** Creates the database and starts the processes. */
  async begin() {
    this.#root = await mkdtemp(join(tmpdir(), "keywright-log-"));
    this.#where = this.#server.newWhere(this.#root);
    const kv = await openDatabase(this.#where, { log: { keep: "1 day" } });
    await kv.close();
    for (const role of ["writer", "feed", "backup"]) this.#start(role);
  }

  /** Lets the processes work for some time and kills one of them, or a restore. */
  async killOne() {
    const moments = this.#moments();
    const roles = ["writer", "writer", "feed", "backup"];
    if (moments.length > 0) roles.push("restore");
    const role = this.#random.pick(roles);
    this.counts.kills[role]++;
    if (role === "restore") return await this.#killRestore(this.#random.pick(moments));
    const process = this.#processes.get(role);
    // Some are killed while they open the database.
    if (this.#random.next() < 0.8) await process.hasPrinted;
    await sleep(this.#random.below(longestLife));
    process.child.kill("SIGKILL");
    await process.exit;
    this.#start(role);
  }

  /** Ends the processes: first the writers, so that the others get all commits. */
  async end() {
    for (const role of ["writer", "feed", "backup"]) {
      const { child, exit } = this.#processes.get(role);
      child.stdin.end();
      await exit;
    }
  }

  async compare(moments) {
    const { oracle } = this;
    const kv = await openDatabase(this.#where);
    try {
      oracle.problems.push(...(await oracle.readFeed(kv.changes({ live: false }))));
      this.#expect("the database", await readState(kv), oracle.stateAt());
      await this.#compareReplica();
      for (const { versionstamp, state } of this.#restored)
        this.#expect(`restored ${versionstamp}`, state, oracle.stateAt(versionstamp));
      const at = Array.from({ length: moments }, () => this.#random.pick(oracle.versionstamps));
      for (const { versionstamp, state } of oracle.statesAt(at.sort())) {
        await this.#comparePast(kv, versionstamp, state);
        if (this.#random.next() < 0.1) await this.#compareRestored(versionstamp, state);
      }
      // The last backup was made after the last commit.
      await this.#compareRestored(undefined, oracle.stateAt());
    } finally {
      await kv.close();
    }
  }

  async remove() {
    for (const { child } of this.#processes.values()) child.kill("SIGKILL");
    if (this.hasFailed) this.oracle.problems.push(`the files are left in ${this.#root}`);
    else await rm(this.#root, { recursive: true, force: true });
  }

  #start(role, more = {}) {
    const input = {
      ...more,
      ...this.#work,
      where: more.where ?? this.#where,
      name: String(this.#started++),
      seed: this.#random.below(2 ** 32),
      durability: this.#random.pick(["full", "relaxed"]),
      hasMax: this.#place.combines !== true,
      replicaPath: this.#replicaPath,
      sinkPath: this.#sinkPath,
      keep: this.#keep,
    };
    const program = fileURLToPath(new URL(programs[role], import.meta.url));
    const child = spawn(process.execPath, [program, JSON.stringify(input)], {
      stdio: ["pipe", "pipe", "inherit"],
    });
    // Its input ends when it is killed.
    child.stdin.on("error", () => undefined);
    const lines = createInterface({ input: child.stdout });
    const hasPrinted = Promise.race([once(lines, "line"), once(lines, "close")]);
    lines.on("line", (line) => this.#note(line));
    const exit = Promise.all([once(child, "exit"), once(lines, "close")]);
    this.#processes.set(role, { child, exit, hasPrinted });
  }

  #note(line) {
    const [word, , versionstamp] = line.split(" ");
    if (word === "backup") this.#backups.push(versionstamp);
    else this.oracle.note(line);
  }

  /**
   * Restores a moment and kills the restore. The database then has nothing, all of it, or cannot be
   * opened until it was restored again.
   */
  async #killRestore(at) {
    const where = this.#server.newWhere(this.#root);
    this.#start("restore", { where, at });
    const { child, exit, hasPrinted } = this.#processes.get("restore");
    await hasPrinted;
    await sleep(this.#random.below(longestLife / 4));
    child.kill("SIGKILL");
    await exit;
    const left = await this.#stateOf(where).catch((error) => {
      if (error.code === "KW_RESTORE_UNFINISHED") return new Map();
      throw error;
    });
    if (left.size > 0) this.#restored.push({ versionstamp: at, state: left });
    else await restore(folderSink(this.#sinkPath), await placeOf(where), { at });
    this.#restored.push({ versionstamp: at, state: await this.#stateOf(where) });
    this.counts.restored++;
  }

  async #stateOf(where) {
    const kv = await openDatabase(where);
    try {
      return await readState(kv);
    } finally {
      await kv.close();
    }
  }

  /** The versionstamps of acknowledged commits that the backups have while the run lasts. */
  #moments() {
    const [first, last] = [this.#backups[0], this.#backups.at(-1)];
    // A full backup may remove the moment while it is restored.
    if (first === undefined || this.#keep !== undefined) return [];
    const acknowledged = [...this.oracle.acknowledged.values()];
    return acknowledged.filter((each) => each >= first && each <= last);
  }

  async #compareReplica() {
    const replica = await openKv(this.#replicaPath);
    try {
      this.#expect("the replica", await readState(replica, ["replica"]), this.oracle.stateAt());
      const seen = [];
      for await (const { key, value } of replica.list({ prefix: ["seen"] }, { batchSize: 500 }))
        if (value !== "") seen.push(key[1]);
      if (seen.join() !== this.oracle.versionstamps.join())
        this.oracle.problems.push("the replica has seen other commits than the feed has");
    } finally {
      await replica.close();
    }
  }

  async #comparePast(kv, versionstamp, expected) {
    const past = await kv.openPast(versionstamp);
    try {
      const isAbsent = ([, value]) => this.#place.combines === true && value === 0n;
      const state = new Map([...expected].filter((entry) => !isAbsent(entry)));
      this.#expect(`the past of ${versionstamp}`, await readState(past), state);
      this.counts.moments++;
    } finally {
      past.close();
    }
  }

  async #compareRestored(at, expected) {
    const kv = await openKv(":memory:");
    try {
      await restore(folderSink(this.#sinkPath), kv, { at });
      this.#expect(`the backup of ${at ?? "the end"}`, await readState(kv), expected);
      this.counts.restored++;
    } catch (error) {
      const isBefore = error.code === "KW_BACKUP_MOMENT" && at !== undefined;
      // The first commits were made before the first backup that was kept.
      if (!isBefore || (this.#keep === undefined && at >= this.#backups[0])) throw error;
    } finally {
      await kv.close();
    }
  }

  #expect(what, state, expected) {
    const difference = differenceOf(state, expected);
    if (difference !== undefined) this.oracle.problems.push(`state: in ${what} ${difference}`);
  }
}
