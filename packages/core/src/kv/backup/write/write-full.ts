import { Buffer } from "node:buffer";
import { isRangeEnd, type ReadView } from "../../../engine/engine.js";
import { logRecords, logSwitchKey } from "../../../engine/log/log-keys.js";
import { afterEntries, firstEntryKey } from "../../../engine/system-keys.js";
import { BackupDamagedError, BackupDatabaseError } from "../../../errors/backup-errors.js";
import { type KeyRange, keyAfter } from "../../../keys/key-range.js";
import { decodeValue } from "../../../values/decode-value.js";
import { readLogState } from "../../log/log-state.js";
import { restoreMarkKey } from "../../open/marks/restore-mark.js";
import type { SharedEngine } from "../../open/shared-engine.js";
import { messageKeys } from "../../queue/message-key.js";
import type { BackupSink } from "../backup-sink.js";
import {
  type ChunkSummary,
  chunkName,
  type FullManifest,
  manifestName,
  recordChecksum,
  removalName,
} from "../format/backup-catalog.js";
import { type BackupKey, encodeObject } from "../format/backup-object.js";
import { EntryBlock } from "../format/entry-block.js";
import { Pace } from "./pace.js";

/** Small, so that programs of this process wait little for a page to be read. */
const pageSize = 250;
const chunkBytes = 4 * 1024 * 1024;
const noVersionstamp = "0".repeat(20);

export interface FullBackupOptions {
  readonly generation: string;
  readonly key: BackupKey | undefined;
  readonly signal: AbortSignal | undefined;
  readonly onEntries: (entries: number) => void;
}

/** A full backup that needs its manifest. */
export interface WrittenEntries {
  readonly manifest: FullManifest;
  /** Bytes of the objects of entries in the sink. */
  readonly storedBytes: number;
}

/**
 * Writes all entries and messages of one state of a database.
 *
 * @throws {BackupDatabaseError} if the engine has no views, or if a restore has not finished.
 */
export async function writeEntries(
  shared: SharedEngine,
  sink: BackupSink,
  options: FullBackupOptions,
): Promise<WrittenEntries> {
  const { engine, mode } = shared;
  const view = await engine.openView?.();
  if (view === undefined)
    throw new BackupDatabaseError("backup", "its engine has no views of one state");
  const chunks = new ChunkWriter(sink, options);
  try {
    if ((await view.get(restoreMarkKey)) !== undefined)
      throw new BackupDatabaseError("backup", "a restore into it has not finished");
    const time = Date.now();
    const place = await placeInLog(view);
    const pace = new Pace(shared);
    await addRange(view, messageKeys, chunks, { ...options, pace });
    const messages = chunks.entries;
    const entries = { start: firstEntryKey, end: afterEntries };
    await addRange(view, entries, chunks, { ...options, pace });
    await chunks.end();
    const manifest: FullManifest = {
      ...{ mode, time, ...place, messages },
      entries: chunks.entries - messages,
      versionstamp: latest(view.versionstamp, place.position, chunks.lastVersionstamp),
      bytes: chunks.bytes,
      chunks: chunks.written,
    };
    return { manifest, storedBytes: chunks.storedBytes };
  } finally {
    view.close();
    // After a failure, an object may still be on its way.
    await chunks.settled();
  }
}

/**
 * Returns the log of a state, and the versionstamp of the last commit of the log that it contains.
 * That of a view may be an earlier one.
 */
export async function placeInLog(
  view: ReadView,
): Promise<Pick<FullManifest, "log" | "position" | "positionChecksum">> {
  const state = await readLogState(view);
  const id = (await view.get(logSwitchKey))?.value;
  if (state === undefined || id === undefined) return { log: null, position: null };
  const [last] = await view.getRange({ range: logRecords, limit: 1, reverse: true });
  const position = latest(last?.versionstamp, state.since);
  const positionChecksum = last?.versionstamp === position ? recordChecksum(last) : undefined;
  return { log: logIdOf(id), position, positionChecksum };
}

/** Returns what tells a log from others. */
export function logIdOf(switchValue: Uint8Array): string {
  return String(decodeValue(switchValue));
}

function latest(...versionstamps: readonly (string | null | undefined)[]): string {
  return versionstamps
    .map((each) => each ?? noVersionstamp)
    .sort()
    .at(-1)!;
}

/** Adds the entries of a range, a page at a time. */
async function addRange(
  view: ReadView,
  range: KeyRange,
  chunks: ChunkWriter,
  { signal, pace, onEntries }: FullBackupOptions & { readonly pace: Pace },
): Promise<void> {
  let { start } = range;
  for (let isEnd = false; !isEnd; ) {
    signal?.throwIfAborted();
    const page = await view.getRange({
      range: { start, end: range.end },
      limit: pageSize,
      reverse: false,
    });
    for (const entry of page) chunks.add(entry);
    await chunks.writeIfFull();
    onEntries(chunks.entries);
    isEnd = isRangeEnd(page, pageSize);
    const last = page.at(-1);
    if (last !== undefined) start = keyAfter(last.key);
    await pace.rest();
  }
}

/** Collects entries, and writes them while further entries are read. */
class ChunkWriter {
  readonly written: ChunkSummary[] = [];
  entries = 0;
  bytes = 0;
  storedBytes = 0;
  lastVersionstamp = "";
  readonly #sink: BackupSink;
  readonly #options: FullBackupOptions;
  #block = new EntryBlock(chunkBytes + chunkBytes / 4);
  /** The block that is being written, to be used again. */
  #other = new EntryBlock(chunkBytes + chunkBytes / 4);
  #writing: Promise<void> = Promise.resolve();

  constructor(sink: BackupSink, options: FullBackupOptions) {
    this.#sink = sink;
    this.#options = options;
  }

  add(entry: Parameters<EntryBlock["add"]>[0]): void {
    this.#block.add(entry);
    this.entries++;
    if (entry.versionstamp > this.lastVersionstamp) this.lastVersionstamp = entry.versionstamp;
  }

  async writeIfFull(): Promise<void> {
    if (this.#block.length >= chunkBytes) await this.#write();
  }

  /** Writes the rest. */
  async end(): Promise<void> {
    if (this.#block.entries > 0) await this.#write();
    await this.#writing;
  }

  /** Resolves when nothing is being written. */
  async settled(): Promise<void> {
    await this.#writing.catch(() => undefined);
  }

  async #write(): Promise<void> {
    await this.#writing;
    const block = this.#block;
    this.#block = this.#other;
    this.#block.clear();
    this.#other = block;
    const index = this.written.length;
    this.written.push({ entries: block.entries, checksum: "" });
    this.#writing = this.#put(block, index);
    // The next call, or the end, awaits it.
    this.#writing.catch(() => undefined);
  }

  async #put(block: EntryBlock, index: number): Promise<void> {
    const { generation, key } = this.#options;
    const fields = { kind: "entries", generation, index, entries: block.entries };
    const { bytes, checksum } = await encodeObject(fields, block.bytes, key);
    await this.#sink.put(chunkName(generation, index), bytes);
    this.written[index] = { entries: block.entries, checksum };
    this.bytes += block.length;
    this.storedBytes += bytes.length;
  }
}

/**
 * Writes the manifest, which completes the backup, and verifies that all chunks are still there:
 * another program may have removed them as those of an interrupted backup.
 */
export async function writeManifest(
  sink: BackupSink,
  manifest: FullManifest,
  { generation, key, signal }: FullBackupOptions,
): Promise<void> {
  signal?.throwIfAborted();
  const body = Buffer.from(JSON.stringify(manifest));
  const name = manifestName(generation);
  const { bytes } = await encodeObject({ kind: "full", generation }, body, key);
  await sink.put(name, bytes);
  const isRemoved = (await sink.get(removalName(generation))) !== undefined;
  const there = new Set(await sink.list(`${generation}/`));
  const missing = manifest.chunks.findIndex((_, index) => !there.has(chunkName(generation, index)));
  if (!isRemoved && missing === -1) return;
  await sink.delete(name);
  const reason = "another program has removed it during the backup";
  throw new BackupDamagedError(chunkName(generation, Math.max(missing, 0)), reason);
}
