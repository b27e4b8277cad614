import { execFileSync } from "node:child_process";
import { appendFileSync, linkSync, readdirSync, statSync } from "node:fs";
import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openKv, repairDatabase } from "@keywright/core";
import { compareCommits } from "../shared/compare-commits.mjs";
import { logProblems } from "../shared/log-problems.mjs";
import { buildPreload } from "../shared/preload.mjs";
import { readEvents, writeDiskState } from "./disk-state.mjs";

const source = fileURLToPath(new URL("record-files.c", import.meta.url));
const commitProgram = new URL("commit-under-record.mjs", import.meta.url);

/**
 * A database whose file operations are recorded while a process commits to it, and the disks that
 * power cuts may have left at any time. Call {@link PowerRun.end} at the end.
 */
export class PowerRun {
  #root;
  #random;
  #library;
  #program;
  /** True if the database keeps a log of its commits. */
  #keepsLog;
  #rounds = 0;
  #events = [];
  /** How many events describe the files that were there before the process was started. */
  #first = 0;
  /** The versionstamp of each commit that was acknowledged in earlier rounds. */
  #before = new Map();

  /**
   * @param options `program` is the URL of the program that is recorded, if not that of commits.
   */
  static async begin(random, { program = commitProgram, keepsLog = random.next() < 0.5 } = {}) {
    const run = new PowerRun();
    run.#random = random;
    run.#keepsLog = keepsLog;
    run.#program = fileURLToPath(program);
    run.#root = await mkdtemp(join(tmpdir(), "keywright-power-"));
    run.#library = join(run.#root, "record-files.so");
    buildPreload(source, run.#library);
    await mkdir(run.#folder);
    return run;
  }

  async end() {
    await rm(this.#root, { recursive: true, force: true });
  }

  /** How many events were recorded in the last round. */
  get events() {
    return this.#events.length;
  }

  get #folder() {
    return join(this.#root, `disk-${this.#rounds}`);
  }

  get #log() {
    return join(this.#root, `log-${this.#rounds}`);
  }

  get #saved() {
    return join(this.#root, `saved-${this.#rounds}`);
  }

  /** Lets the program commit to the folder, and records what it does with its files. */
  async commit(work) {
    await mkdir(this.#saved);
    this.#recordPresentFiles();
    const task = {
      ...work,
      path: this.#folder,
      log: this.#log,
      keepsLog: this.#keepsLog,
      round: this.#rounds,
    };
    execFileSync(process.execPath, [this.#program, JSON.stringify(task)], {
      env: {
        ...process.env,
        LD_PRELOAD: this.#library,
        KW_POWER_FOLDER: this.#folder,
        KW_POWER_LOG: this.#log,
        KW_POWER_SAVED: this.#saved,
      },
      stdio: ["ignore", "inherit", "inherit"],
      timeout: 120_000,
    });
    this.#events = readEvents(this.#log);
  }

  /**
   * Returns a time for a cut: after a number of events. A third of the cuts are beside an event that
   * changes the folder, because there are few of those, and a third before the next sync of it.
   */
  pickCut() {
    const changes = ["name", "rename", "unlink", "folder"];
    const atChanges = this.#events.flatMap(([kind], i) => (changes.includes(kind) ? [i] : []));
    const last = this.#events.length;
    const kind = this.#random.below(3);
    if (kind === 0) return this.#first + this.#random.below(last - this.#first + 1);
    const change = this.#random.pick(atChanges);
    const synced = this.#events.findIndex(([kind], i) => i > change && kind === "folder");
    const width = kind === 1 ? 5 : (synced === -1 ? last : synced) - change + 1;
    const cut = change - 1 + this.#random.below(width + 1);
    return Math.min(Math.max(cut, this.#first), last);
  }

  /**
   * Constructs the disk after a cut, opens the database there, and compares it with the commits
   * that were acknowledged before the cut.
   *
   * @returns the outcome: `whole`, `prefix` (commits are missing at the end), `refused` (until it
   * was repaired), or `wrong`, and the problems in words.
   */
  async cut(cut, { fate, durability }) {
    const { acknowledged, isDurable } = this.#expected(cut, durability);
    return await this.withDisk(cut, fate, async (folder) => {
      const outcome = await examine(folder, acknowledged);
      const isAllowed = outcome.kind === "whole" || (!isDurable && outcome.kind !== "wrong");
      if (!isAllowed) {
        const files = (await readdir(folder)).join(", ");
        outcome.problems.push(`after ${cut} of ${this.#events.length} events, ${fate}: ${files}`);
      }
      return { ...outcome, isAllowed };
    });
  }

  /**
   * Calls a function with a folder that has the disk after a cut, and the events before the cut.
   */
  async withDisk(cut, fate, examineDisk) {
    const folder = await mkdtemp(join(this.#root, "cut-"));
    const place = { fate, random: this.#random, saved: this.#saved, folder };
    await writeDiskState(this.#events, cut, place);
    try {
      return await examineDisk(folder, this.#events.slice(0, cut));
    } finally {
      await rm(folder, { recursive: true });
    }
  }

  /** Continues with the disk after a cut: the next round commits to it. */
  async continueAfter(cut, fate) {
    const { acknowledged } = this.#expected(cut, "full");
    const [events, saved, random] = [this.#events, this.#saved, this.#random];
    this.#before = acknowledged;
    this.#rounds++;
    await mkdir(this.#folder);
    await writeDiskState(events, cut, { fate, random, saved, folder: this.#folder });
  }

  #expected(cut, durability) {
    const acknowledged = new Map(this.#before);
    for (const [kind, id, versionstamp] of this.#events.slice(0, cut))
      if (kind === "acknowledged") acknowledged.set(id, versionstamp);
    return { acknowledged, isDurable: durability === "full" };
  }

  /** Records the files that are there before the process is started, as synced. */
  #recordPresentFiles() {
    const names = readdirSync(this.#folder);
    this.#first = names.length * 2 + 1;
    for (const name of names) {
      const path = join(this.#folder, name);
      const { ino, size } = statSync(path);
      linkSync(path, join(this.#saved, String(ino)));
      appendFileSync(this.#log, `name ${name} ${ino}\nsync ${ino} ${size}\n`);
    }
    appendFileSync(this.#log, "folder\n");
  }
}

/**
 * Opens a database and compares it with the commits that were acknowledged. A database that is
 * refused is repaired: it must then hold a prefix of its commits.
 */
async function examine(path, acknowledged) {
  try {
    return await openAndCompare(path, acknowledged);
  } catch (error) {
    if (error.code !== "KW_CORRUPTION") return wrong(error);
  }
  try {
    await repairDatabase(path, { inPlace: true });
    const { kind, problems } = await openAndCompare(path, acknowledged);
    return { kind: kind === "wrong" ? "wrong" : "refused", problems };
  } catch (error) {
    return wrong(error);
  }
}

function wrong(error) {
  return { kind: "wrong", problems: [`${error.code}: ${error.message}`] };
}

async function openAndCompare(path, acknowledged) {
  const kv = await openKv(path);
  try {
    const outcome = await compareCommits(kv, acknowledged);
    const problems = await problemsOfLog(kv);
    if (problems.length === 0) return outcome;
    return { kind: "wrong", problems: [...outcome.problems, ...problems] };
  } finally {
    await kv.close();
  }
}

/** The power may have been cut before the log was begun. */
async function problemsOfLog(kv) {
  try {
    return await logProblems(kv);
  } catch (error) {
    if (error.code !== "KW_LOG_OFF") throw error;
    return [];
  }
}
