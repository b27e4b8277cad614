import type { Buffer } from "node:buffer";
import type { StoredEntry } from "../../engine/engine.js";
import { decodeLogRecord, type LogRecord } from "../../engine/log/log-record.js";
import { BackupDamagedError, BackupMomentError } from "../../errors/backup-errors.js";
import type { BackupSink } from "./backup-sink.js";
import {
  afterOf,
  type BackupCatalog,
  chunkName,
  type FullManifest,
  type Generation,
  headName,
  type LogHeader,
  manifestName,
  readCatalog,
  readManifest,
  takeNextLog,
  upToOf,
} from "./format/backup-catalog.js";
import { type BackupKey, type BackupObject, decodeObject } from "./format/backup-object.js";
import { entriesOfBlock } from "./format/entry-block.js";

/** A moment: that after a commit, by its versionstamp, or a time. */
export type Moment = string | Date;

export interface SourceOptions {
  readonly at: Moment | undefined;
  readonly key: BackupKey | undefined;
  /** Called with damage. It throws it, or the source continues without what is lost. */
  readonly onDamage: (damage: BackupDamagedError) => void;
}

/** One state that a sink has: a full backup, and the commits that were made since. */
export class BackupSource {
  readonly manifest: FullManifest;
  readonly generation: Generation;
  /** The last commit that was read. */
  lastCommit: { readonly versionstamp: string; readonly time: number } | undefined;
  readonly #sink: BackupSink;
  readonly #options: SourceOptions;

  private constructor(
    sink: BackupSink,
    generation: Generation,
    manifest: FullManifest,
    options: SourceOptions,
  ) {
    this.#sink = sink;
    this.generation = generation;
    this.manifest = manifest;
    this.#options = options;
  }

  /**
   * Finds the newest full backup that is not later than the moment. A restored database counts its
   * versionstamps anew, so a versionstamp may be one that a later backup has not reached: then it
   * finds an earlier one that has.
   *
   * @throws {BackupMomentError} if there is none.
   */
  static async open(sink: BackupSink, options: SourceOptions): Promise<BackupSource> {
    const catalog = await readCatalog(sink);
    if (catalog.generations.length === 0) throw withoutBackup(catalog);
    let oldest: FullManifest | undefined;
    let newest: BackupSource | undefined;
    for (const generation of [...catalog.generations].reverse()) {
      try {
        oldest = await readManifest(sink, generation.name, options.key);
      } catch (error) {
        // It may be the manifest of the moment.
        if (!(error instanceof BackupDamagedError)) throw error;
        options.onDamage(error);
        continue;
      }
      if (!isUpTo(oldest, options.at)) continue;
      const source = new BackupSource(sink, generation, oldest, options);
      if (typeof options.at !== "string" || (await source.#has(options.at))) return source;
      newest ??= source;
    }
    // Its end is named by the error.
    if (newest !== undefined) return newest;
    if (oldest === undefined)
      throw new BackupDamagedError(manifestName(""), "no full backup has a manifest that is whole");
    throw new BackupMomentError(`its oldest state is ${momentText(oldest)}`);
  }

  /**
   * Yields the messages and entries of the full backup, in the order of their keys. Undefined
   * stands for entries that are lost.
   */
  async *entries(): AsyncGenerator<StoredEntry | undefined> {
    for (const [index, { checksum, entries }] of this.manifest.chunks.entries()) {
      const name = chunkName(this.generation.name, index);
      const lost = `${entries} of the ${this.manifest.entries} entries of the full backup`;
      const block = await this.#orLost(async () => {
        const object = decodeObject(name, await this.#sink.get(name), this.#options.key, lost);
        if (object.checksum !== checksum)
          throw new BackupDamagedError(name, `it is not the one of the manifest. It had ${lost}`);
        return await object.body();
      });
      if (block === undefined) {
        yield undefined;
        continue;
      }
      let read = 0;
      for (const entry of entriesOfBlock(block)) {
        read++;
        yield entry;
      }
      if (read !== entries)
        throw new BackupDamagedError(name, `it has ${read} entries, and should have ${entries}`);
    }
  }

  /**
   * Yields the commits after the full backup up to the moment, in their order.
   *
   * @throws {BackupMomentError} if the backup ends before the moment.
   */
  async *commits(): AsyncGenerator<LogRecord> {
    const { at } = this.#options;
    const end = at instanceof Date ? await this.#lastUpTo(at.getTime()) : at;
    const { position, log } = this.manifest;
    let last = position ?? this.manifest.versionstamp;
    let until = this.manifest.time;
    let names = [...this.generation.logs];
    for (let isCurrent = false; ; ) {
      if (typeof at === "string" && last >= at) return;
      const name = takeNextLog(names, last);
      if (name === undefined && names.length === 0) break;
      if (name === undefined) {
        // A listing during a merge may have neither the merged object nor those in its place.
        if (isCurrent) {
          await this.#orLost(async () => assertContinued(names[0]!, last));
          return;
        }
        names = await this.#logs();
        isCurrent = true;
        continue;
      }
      isCurrent = false;
      const lost = `commits after ${last}`;
      const bytes = await this.#sink.get(name);
      if (bytes === undefined) {
        const logs = await this.#logs();
        // A backup that follows the database has merged it with others since it was listed.
        if (!logs.includes(name)) {
          names = logs;
          continue;
        }
      }
      const object = { name, bytes };
      const read = await this.#orLost(() => this.#readCommits(object, { log, last, lost }));
      // Without these commits, later ones do not lead to a state that the database has had.
      if (read === undefined) return;
      for (const record of recordsOf(read.block)) {
        if (record.versionstamp <= last) continue;
        if (isAfter(record, end ?? at)) return;
        last = record.versionstamp;
        this.lastCommit = record;
        yield record;
      }
      until = Math.max(until, read.header.until);
    }
    const isReached = typeof at === "string" ? last >= at : at !== undefined && +at <= until;
    if (!isReached) await this.#orLost(() => this.#assertReaches(last));
    const isBefore =
      typeof at === "string"
        ? at > later(last, this.manifest.versionstamp)
        : at && at.getTime() > until;
    if (isBefore)
      throw new BackupMomentError(
        `it ends with ${momentText({ versionstamp: later(last, this.manifest.versionstamp), time: until })}`,
      );
  }

  async #readCommits(
    { name, bytes }: { readonly name: string; readonly bytes: Uint8Array | undefined },
    expected: { readonly log: string | null; readonly last: string; readonly lost: string },
  ): Promise<{ readonly header: LogHeader; readonly block: Buffer }> {
    const object = decodeObject(name, bytes, this.#options.key, expected.lost);
    return { header: logHeaderOf(object, { name, ...expected }), block: await object.body() };
  }

  /** Returns the names of the objects of commits that the sink has now. */
  async #logs(): Promise<string[]> {
    const { generations } = await readCatalog(this.#sink);
    return [...(generations.find(({ name }) => name === this.generation.name)?.logs ?? [])];
  }

  /** True if the backup has a commit, or had it before objects were lost. */
  async #has(versionstamp: string): Promise<boolean> {
    const { versionstamp: full } = this.manifest;
    const [last = full] = this.generation.logs.map(upToOf).sort().slice(-1);
    if (later(full, last) >= versionstamp) return true;
    return ((await this.#orLost(() => this.#head())) ?? "") >= versionstamp;
  }

  /** @throws {BackupDamagedError} if the last objects of commits are missing. */
  async #assertReaches(last: string): Promise<void> {
    const upTo = (await this.#head()) ?? "";
    // A backup may have added commits since the objects were listed.
    if (upTo <= last || (await this.#logs()).some((each) => upToOf(each) >= upTo)) return;
    const reason = `the objects of the commits after ${last} up to ${upTo} are missing`;
    throw new BackupDamagedError(headName(this.generation.name), reason);
  }

  /** Returns how far the commits reach. Undefined if none were added. */
  async #head(): Promise<string | undefined> {
    const name = headName(this.generation.name);
    const bytes = await this.#sink.get(name);
    if (bytes === undefined) return undefined;
    const { header } = decodeObject(name, bytes, this.#options.key, "how far the commits reach");
    return String(header["upTo"]);
  }

  /**
   * Returns the versionstamp of the last commit that has a time or an earlier one, or an empty text
   * if there is none. Clocks differ and are set back, so commits before it may have later times.
   * Undefined if commits that may be it are damaged.
   */
  async #lastUpTo(time: number): Promise<string | undefined> {
    for (const name of [...this.generation.logs].reverse()) {
      let last = "";
      try {
        const bytes = await this.#sink.get(name);
        const block = await decodeObject(name, bytes, this.#options.key, "commits").body();
        for (const record of recordsOf(block)) if (record.time <= time) last = record.versionstamp;
      } catch (error) {
        if (error instanceof BackupDamagedError) return undefined;
        throw error;
      }
      if (last !== "") return last;
    }
    return "";
  }

  async #orLost<T>(read: () => Promise<T>): Promise<T | undefined> {
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof BackupDamagedError)) throw error;
      this.#options.onDamage(error);
      return undefined;
    }
  }
}

/**
 * Returns the header of an object of commits.
 *
 * @param last the last commit before it that the backup has.
 * @throws {BackupDamagedError} if commits between them are missing.
 */
export function logHeaderOf(
  { header }: Pick<BackupObject, "header">,
  {
    name,
    log,
    last,
  }: { readonly name: string; readonly log: string | null; readonly last: string },
): LogHeader {
  const fields = header as unknown as LogHeader;
  if (fields.log !== log) throw new BackupDamagedError(name, "it belongs to another log");
  assertContinued(name, last);
  return fields;
}

/** @throws {BackupDamagedError} if an object of commits does not continue after a commit. */
function assertContinued(name: string, last: string): void {
  const after = afterOf(name);
  if (after <= last) return;
  const reason = `the objects before it are missing, and with them the commits after ${last} up to ${after}`;
  throw new BackupDamagedError(name, reason);
}

function* recordsOf(block: Buffer): Generator<LogRecord> {
  for (const { value, versionstamp } of entriesOfBlock(block))
    yield decodeLogRecord(versionstamp, value);
}

function isUpTo({ time, versionstamp }: FullManifest, at: Moment | undefined): boolean {
  if (at === undefined) return true;
  return typeof at === "string" ? versionstamp <= at : time <= at.getTime();
}

function isAfter({ time, versionstamp }: LogRecord, at: Moment | undefined): boolean {
  if (at === undefined) return false;
  return typeof at === "string" ? versionstamp > at : time > at.getTime();
}

function later(a: string, b: string): string {
  return a > b ? a : b;
}

function withoutBackup({ unfinished }: BackupCatalog): BackupMomentError {
  const found = unfinished.length > 0 ? "only a backup that was interrupted" : "no backup";
  return new BackupMomentError(`there is ${found}`);
}

function momentText({ time, versionstamp }: Pick<FullManifest, "time" | "versionstamp">): string {
  return `that of ${new Date(time).toISOString()}, after the commit ${versionstamp}`;
}
