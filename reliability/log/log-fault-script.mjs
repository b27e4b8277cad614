import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { isKeywrightError, openKv } from "@keywright/core";
import { backup, folderSink, restore, verifyBackup } from "@keywright/core/backup";
import { Random } from "../shared/random.mjs";
import { LogOracle } from "./log-oracle.mjs";
import { differenceOf, makeCommit, nextCommit, readState } from "./script-of-commits.mjs";

/** No call takes that long, even on a busy machine. */
const patience = 20_000;
const log = { keep: "1 day" };
const adding = { incremental: true, fullIfNeeded: true };

/**
 * Commits, follows the feed, makes backups and restores them while calls of the system fail, in the
 * folder of the database and in that of the backups. Then it compares all of it with what was
 * acknowledged. The options are
 * - `commits`: how many commits are made before each backup;
 * - `seed`: that of the commits.
 */
export class FaultScript {
  /** What is wrong, in words. */
  problems = [];
  /** How often each code was the answer of a call. */
  refusals = {};
  #path;
  #commits;
  #random;
  #oracle = new LogOracle();
  #next = 0;
  /** The versionstamps that the feed has returned. */
  #seen = [];
  /** The results of the backups that were made. */
  #backups = [];
  /** How many of them a later full backup may have removed. */
  #removable = 0;

  constructor(path, { commits, seed }) {
    this.#path = path;
    this.#commits = commits;
    this.#random = new Random(seed);
  }

  get #sink() {
    return folderSink(join(this.#path, "backups"));
  }

  get #restored() {
    return join(this.#path, "restored");
  }

  /** Works with the database in two programs. Calls of the system may fail meanwhile. */
  async work() {
    await this.#open([{}, adding]);
    await this.#open([adding, { keep: 1 }, adding]);
    await this.#attempt("restore", () => restore(this.#sink, this.#restored));
  }

  /** Opens everything again, when no calls of the system fail, and compares it. */
  async examine() {
    try {
      const kv = await openKv(join(this.#path, "data"), { log });
      try {
        await this.#compare(kv);
      } finally {
        await kv.close();
      }
    } catch (error) {
      this.problems.push(`after the fault: ${error.stack}`);
    }
    this.problems.push(...this.#oracle.problems);
  }

  async #open(backups) {
    const kv = await this.#attempt("open", () => openKv(join(this.#path, "data"), { log }));
    if (kv === undefined) return;
    const following = new AbortController();
    const feed = this.#attempt("changes", () => this.#follow(kv, following.signal));
    for (const options of backups) {
      for (let n = 0; n < this.#commits; n++) await this.#commit(kv);
      if (options.keep !== undefined) this.#removable = this.#backups.length;
      const result = await this.#attempt("backup", () => backup(kv, this.#sink, options));
      if (result !== undefined) this.#backups.push(result);
    }
    await this.#attempt("close", () => kv.close());
    following.abort();
    await feed;
  }

  async #commit(kv) {
    const commit = nextCommit(this.#random, String(this.#next++), true);
    this.#oracle.note(`begin ${JSON.stringify(commit)}`);
    await this.#attempt("commit", async () => {
      const versionstamp = await makeCommit(kv, commit);
      this.#oracle.note(
        versionstamp === undefined ? `refused ${commit.id}` : `done ${commit.id} ${versionstamp}`,
      );
    });
  }

  /** Reads the feed until the database is closed. */
  async #follow(kv, signal) {
    try {
      const after = this.#seen.at(-1);
      for await (const { versionstamp } of kv.changes({ after, signal }))
        this.#seen.push(versionstamp);
    } catch (error) {
      if (error !== signal.reason) throw error;
    }
  }

  async #compare(kv) {
    const all = [];
    for await (const { versionstamp } of kv.changes({ live: false })) all.push(versionstamp);
    if (this.#seen.join() !== all.slice(0, this.#seen.length).join())
      this.problems.push(`the feed had ${this.#seen.length} commits, and the log has others`);
    this.problems.push(...(await this.#oracle.readFeed(kv.changes({ live: false }))));
    this.#expect("the database", await readState(kv), this.#oracle.stateAt());
    await this.#compareRestored();
    await this.#compareBackups();
    // The next backup continues, and has all.
    const { fullReason } = await backup(kv, this.#sink, adding);
    const isExpected = fullReason === undefined || fullReason === "the sink has no backup";
    if (!isExpected) this.problems.push(`the backup is not continued: ${fullReason}`);
    await verifyBackup(this.#sink);
    this.#expect("the last backup", await this.#restore(undefined), this.#oracle.stateAt());
  }

  /** What was restored while calls failed is empty, refused, or one state. */
  async #compareRestored() {
    let kv;
    try {
      kv = await openKv(this.#restored, { createIfMissing: false });
    } catch (error) {
      if (["KW_RESTORE_UNFINISHED", "KW_DATABASE_NOT_FOUND"].includes(error.code)) return;
      throw error;
    }
    try {
      const state = await readState(kv);
      const states = this.#oracle.versionstamps.map((each) => this.#oracle.stateAt(each));
      const isOne = (expected) => differenceOf(state, expected) === undefined;
      if (state.size > 0 && !states.some(isOne))
        this.problems.push("what was restored is the state after no commit");
    } finally {
      await kv.close();
    }
  }

  /** Each backup that was acknowledged can be restored, unless a later one has removed it. */
  async #compareBackups() {
    for (const [i, { versionstamp }] of this.#backups.entries()) {
      try {
        const state = await this.#restore(versionstamp);
        this.#expect(`the backup ${versionstamp}`, state, this.#oracle.stateAt(versionstamp));
      } catch (error) {
        if (error.code !== "KW_BACKUP_MOMENT" || i >= this.#removable) throw error;
      }
    }
  }

  async #restore(at) {
    const kv = await openKv(":memory:");
    try {
      await restore(this.#sink, kv, { at });
      return await readState(kv);
    } finally {
      await kv.close();
    }
  }

  #expect(what, state, expected) {
    const difference = differenceOf(state, expected);
    if (difference !== undefined) this.problems.push(`in ${what} ${difference}`);
  }

  /**
   * Makes a call. Returns undefined if it is refused, which needs an error with a code: one of
   * Keywright, or of the system for the folder of the backups.
   */
  async #attempt(name, call) {
    const timeout = new AbortController();
    try {
      return await Promise.race([call(), hangs(timeout.signal)]);
    } catch (error) {
      const isOfSink = ["backup", "restore"].includes(name) && error?.syscall !== undefined;
      const code = isKeywrightError(error) || isOfSink ? error.code : undefined;
      if (code === undefined) this.problems.push(`${name}: ${error?.stack ?? error}`);
      else this.refusals[`${name} ${code}`] = (this.refusals[`${name} ${code}`] ?? 0) + 1;
      return undefined;
    } finally {
      timeout.abort();
    }
  }
}

async function hangs(signal) {
  await setTimeout(patience, undefined, { signal, ref: true });
  throw new Error("the call hangs");
}
