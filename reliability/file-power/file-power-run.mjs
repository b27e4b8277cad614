import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { openDatabase } from "../shared/open-database.mjs";
import { buildPreload } from "../shared/preload.mjs";
import { filesAfterCut, readEvents } from "./files-after-cut.mjs";

const source = fileURLToPath(new URL("record-writes.c", import.meta.url));
const commitProgram = new URL("../power/commit-under-record.mjs", import.meta.url);

/**
 * A database in one file, and its log, whose writes are recorded while a process commits to it, and
 * the files that power cuts may have left at any time. Call {@link FilePowerRun.end} at the end.
 */
export class FilePowerRun {
  #root;
  #random;
  #name;
  #program;
  #before;
  #rounds = 0;
  #cuts = 0;
  #events = [];

  /**
   * @param name the name of the file, which says which engine it is of.
   * @param options `program` is the URL of the program that is recorded, if not that of commits.
   */
  static async begin(name, random, { program = commitProgram } = {}) {
    const run = new FilePowerRun();
    run.#name = name;
    run.#random = random;
    run.#program = fileURLToPath(program);
    run.#root = await mkdtemp(join(tmpdir(), "keywright-file-power-"));
    buildPreload(source, run.#library);
    const path = join(run.#root, name);
    const kv = await openDatabase(path);
    await kv.close();
    run.#before = readFiles(path);
    return run;
  }

  async end() {
    await rm(this.#root, { recursive: true, force: true });
  }

  /** How many events were recorded in the last round. */
  get events() {
    return this.#events.length;
  }

  get #library() {
    return join(this.#root, "record-writes.so");
  }

  /** Lets the program commit to the file, and records what it writes. */
  async commit(work) {
    const round = this.#rounds++;
    const path = join(this.#root, `round-${round}`, this.#name);
    await writeFiles(path, this.#before);
    const log = `${path}.events`;
    const task = JSON.stringify({ ...work, round, path, log });
    execFileSync(process.execPath, [this.#program, task], {
      env: {
        ...process.env,
        LD_PRELOAD: this.#library,
        KW_POWER_FILE: path,
        KW_POWER_LOG: log,
      },
      stdio: ["ignore", "inherit", "inherit"],
      timeout: 120_000,
    });
    this.#events = readEvents(log);
  }

  /**
   * Returns a time for a cut: after a number of events. Half of the cuts are beside a sync or a
   * write that is on disk at once.
   */
  pickCut() {
    const random = this.#random;
    const last = this.#events.length;
    if (random.next() < 0.5) return random.below(last + 1);
    const syncs = this.#events.flatMap(({ kind }, i) => ("bedBEDNUf".includes(kind) ? [i] : []));
    return Math.max(0, Math.min(last, random.pick(syncs) + random.below(3) - 1));
  }

  /** Returns what the program has noted before a cut: the words of each line. */
  notesBefore(cut) {
    return this.#events.slice(0, cut).flatMap(({ kind, bytes }) => {
      return kind === "a" ? [bytes.toString().trim().split(" ")] : [];
    });
  }

  /** Calls a function with the path that has the files after a cut, and the notes before it. */
  async withDisk(cut, fate, examineDisk) {
    const path = join(this.#root, `cut-${this.#cuts++}`, this.#name);
    await writeFiles(path, filesAfterCut(this.#before, this.#events, cut, fate, this.#random));
    try {
      return await examineDisk(path, this.notesBefore(cut));
    } finally {
      await rm(join(path, ".."), { recursive: true });
    }
  }

  /** Continues with the files after a cut: the next round commits to them. */
  continueAfter(cut, fate) {
    this.#before = filesAfterCut(this.#before, this.#events, cut, fate, this.#random);
  }
}

function readFiles(path) {
  const log = `${path}-wal`;
  return { file: readFileSync(path), log: existsSync(log) ? readFileSync(log) : undefined };
}

async function writeFiles(path, { file, log }) {
  await mkdir(join(path, ".."));
  await writeFile(path, file);
  if (log !== undefined) await writeFile(`${path}-wal`, log);
}
