import { BackupDamagedError } from "../../../errors/backup-errors.js";
import type { BackupSink } from "../backup-sink.js";
import type { BackupKey } from "../format/backup-object.js";
import { type LogObject, mergeCommits, objectBytes } from "./write-log.js";

/** So many objects of the same size become one. */
const mergedAtOnce = 16;

/**
 * Merges the objects of commits that a backup adds while it follows a database, as soon as there
 * are 16 of about the same size. So a day of seconds has some dozen of them, and each commit is
 * written a few times.
 */
export class SmallObjects {
  readonly #sink: BackupSink;
  readonly #key: BackupKey | undefined;
  #generation = "";
  /** The last commit of the last object. */
  #upTo = "";
  /** By how often their commits were merged: the last objects, which follow each other. */
  #levels: LogObject[][] = [];

  constructor(sink: BackupSink, key: BackupKey | undefined) {
    this.#sink = sink;
    this.#key = key;
  }

  /** Adds objects of a full backup, in the order of their commits. */
  async add(generation: string, objects: readonly LogObject[]): Promise<void> {
    if (generation !== this.#generation) this.#levels = [];
    this.#generation = generation;
    for (const object of objects) {
      // Another program may have added what is between, and one object may not stand for that.
      if (object.header.after !== this.#upTo) this.#levels = [];
      this.#upTo = object.header.upTo;
      await this.#add(0, object);
    }
  }

  async #add(level: number, object: LogObject): Promise<void> {
    // An object of full size stays, and those before it cannot be merged with later ones.
    if (object.bytes >= objectBytes) {
      this.#levels = [];
      return;
    }
    this.#levels[level] ??= [];
    const objects = this.#levels[level];
    objects.push(object);
    if (objects.length < mergedAtOnce) return;
    this.#levels[level] = [];
    try {
      const merged = await mergeCommits(this.#sink, this.#generation, objects, this.#key);
      await this.#add(level + 1, merged);
    } catch (error) {
      // A restore reports the damage. Another program may also have removed the backup.
      if (!(error instanceof BackupDamagedError)) throw error;
      this.#levels = [];
    }
  }
}
