import { type KvKey, type KvKeyPart, specificationOrder } from "@keywright/core";
import type { RowId } from "../../errors/orm-error.js";
import { type CompiledModel, systemPrefix } from "../../model/compiled-model.js";
import { canBeStored } from "../../model/keys/can-be-stored.js";
import { count, is, key, nullable, object, optional, text } from "../../model/shape.js";
import {
  type UnindexedRow,
  type UnindexedRows,
  unindexedRowsShape,
} from "../../state/catalog/backfill-state.js";
import { readSystemValue, type SystemShape } from "../../state/catalog/system-value.js";
import type { ModelStore } from "../../state/context/model-store.js";
import { clearRecords } from "../../state/run/clear-prefix.js";
import type { MigrationRun } from "../../state/run/migration-run.js";
import { keyIdOf } from "../../state/transaction/buffer/key-id.js";
import { withUnindexed } from "../entries/fill/unindexed-rows.js";
import type { EntryFinding } from "../entries/verify/inspect-entry.js";
import { Sums } from "./sums.js";

/**
 * The first phase sums up what rows should have and what is stored. The second one compares what
 * may differ by the sums. It is skipped if the sums are equal.
 */
export type VerifyPhase = "sum" | "compare";

/** What a verification has found of one kind. */
export interface Tally {
  count: number;
  repaired: number;
  /** What could not be compared, because others changed it all the time. */
  unchecked: number;
}

/** The progress of a verification, as it is stored. */
export interface VerifyState {
  readonly format: 1;
  /** Identifies what is verified and why. Only a verification of the same subject is resumed. */
  readonly subject: string;
  phase: VerifyPhase;
  /** The position of the scan in its phase. */
  position: number;
  /** The last key of this scan that is done. Null before the first. */
  after: KvKey | null;
  scanned: number;
  /** The number of rows and entries that were read. */
  rows: number;
  entries: number;
  readonly counts: Record<EntryFinding["kind"], number>;
  repaired: number;
  conflicts: number;
  /** Rows that an index cannot hold. Absent if there are none. */
  unindexed?: UnindexedRows;
  readonly counters: Tally;
  readonly copies: Tally;
  /** Set while the counters are rebuilt, after all scans are done. */
  recounts?: true;
}

const verificationShape: SystemShape<VerifyState> = {
  problemOf: object({
    subject: is(isSubject),
    phase: text,
    position: count,
    after: nullable(key),
    scanned: count,
    rows: count,
    entries: count,
    counts: object({ missing: count, dangling: count, mismatched: count }),
    repaired: count,
    conflicts: optional(count),
    unindexed: optional(unindexedRowsShape),
  }),
  remedy: "delete it, and run verify again",
};

/** True for the subject of a verification: a list as JSON. */
function isSubject(value: unknown): boolean {
  if (typeof value !== "string") return false;
  try {
    return Array.isArray(JSON.parse(value));
  } catch {
    return false;
  }
}

/** A counter that differs from the rows that it counts. */
export interface WrongCounter {
  readonly model: string;
  /** The name of the index. Undefined for a counter of all rows. */
  readonly index: string | undefined;
  /**
   * The key of the index whose rows are counted. Empty for all rows. For a ranked index, the entry
   * at which the interval begins, or empty for the first interval.
   */
  readonly parts: readonly KvKeyPart[];
  /** True for the numbers of an interval of a ranked index. */
  readonly isRanked: boolean;
  /** The field that is summed. Undefined if rows are counted. */
  readonly sum: string | undefined;
}

/** A row whose copied fields differ from the row that it copies, or from their defaults. */
export interface OutdatedCopy {
  readonly model: string;
  /** The primary key of the row with the copies. */
  readonly id: RowId;
  readonly relation: string;
  /** The fields of the row that differ. */
  readonly fields: readonly string[];
}

/** What is listed of each kind: entries of indexes, counters and rows with copied fields. */
export interface Listed {
  readonly finding: EntryFinding[];
  readonly counter: WrongCounter[];
  readonly copy: OutdatedCopy[];
}

const maxListed = 100;

function verifyingKey(model: CompiledModel): KvKey {
  return [systemPrefix, "verifying", model.prefix];
}

/**
 * Returns the key that marks a unique key as already reported. The mark exists if the entry under
 * the unique key was reported as mismatched and belongs to no row. The scan of the entries then
 * does not report it as dangling too.
 */
function claimedKey(model: CompiledModel, key: KvKey): KvKey {
  return [...verifyingKey(model), "claimed", ...key];
}

/** A verification in progress: its state, its findings, and how much of them is stored. */
export class Verification {
  readonly sums: Sums = new Sums();
  readonly listed: Listed = { finding: [], counter: [], copy: [] };
  readonly state: VerifyState;
  readonly #context: ModelStore;
  readonly #run: MigrationRun;
  #isStored: boolean;
  #areSumsSaved = false;
  readonly #saved: Record<keyof Listed, number> = { finding: 0, counter: 0, copy: 0 };
  #hasClaims = false;
  /** The keys that were claimed by a run that only reads. */
  readonly #claims = new Set<string>();

  private constructor(
    context: ModelStore,
    run: MigrationRun,
    state: VerifyState,
    isStored: boolean,
  ) {
    this.#context = context;
    this.#run = run;
    this.state = state;
    this.#isStored = isStored;
  }

  /** Resumes the stopped verification of this subject, or begins a new one. */
  static async open(
    context: ModelStore,
    run: MigrationRun,
    subject: string,
  ): Promise<Verification> {
    const key = verifyingKey(context.model);
    const { isHeld } = run.lease;
    const value = isHeld
      ? await readSystemValue(context.kv, key, verificationShape, context.model.name)
      : null;
    if (value?.subject === subject) {
      const resumed = new Verification(context, run, value, true);
      await resumed.#load();
      return resumed;
    }
    const state: VerifyState = {
      format: 1,
      subject,
      phase: "sum",
      position: 0,
      after: null,
      scanned: 0,
      rows: 0,
      entries: 0,
      counts: { missing: 0, dangling: 0, mismatched: 0 },
      repaired: 0,
      conflicts: 0,
      counters: { count: 0, repaired: 0, unchecked: 0 },
      copies: { count: 0, repaired: 0, unchecked: 0 },
    };
    const started = new Verification(context, run, state, value !== null);
    // Deletes what an abandoned verification has left.
    await started.clear();
    return started;
  }

  /**
   * Deletes what is stored of a verification with this `partOf`. It is called if the work that the
   * verification was part of ends without it.
   */
  static async forget(context: ModelStore, run: MigrationRun, partOf: string): Promise<void> {
    const { kv, model } = context;
    const value = await readSystemValue(kv, verifyingKey(model), verificationShape, model.name);
    if (value !== null && JSON.parse(value.subject)[0] !== partOf) return;
    await clearStored(context, run, value !== null);
  }

  /** True in the first phase. */
  get isSumming(): boolean {
    return this.state.phase === "sum";
  }

  /** Lists something that is wrong, if it is among the first 100. */
  list<Kind extends keyof Listed>(kind: Kind, found: Listed[Kind][number]): void {
    const list: Listed[keyof Listed][number][] = this.listed[kind];
    if (list.length < maxListed) list.push(found);
  }

  addUnindexed(rows: readonly UnindexedRow[]): void {
    const unindexed = withUnindexed(this.state.unindexed, rows);
    if (unindexed !== undefined) this.state.unindexed = unindexed;
  }

  /** Moves the position of the scan forward by a number of rows or entries. */
  advance(after: KvKey, looked: number): void {
    this.state.after = after;
    this.state.scanned += looked;
  }

  beginScan(phase: VerifyPhase, position: number): void {
    Object.assign(this.state, { phase, position, after: null, scanned: 0 });
  }

  /** Remembers for the scan of the entries that a key was reported as mismatched. */
  async claim(key: KvKey): Promise<void> {
    const claimed = claimedKey(this.#context.model, key);
    // The key is then reported twice.
    if (!canBeStored(claimed, this.#context.limits.keyBytes)) return;
    this.#hasClaims = true;
    if (!this.#run.lease.isHeld) this.#claims.add(keyIdOf(claimed, specificationOrder));
    await this.#run.lease.write((operation) => operation.set(claimed, true));
  }

  /** Returns whether this key was reported as mismatched. */
  async isClaimed(key: KvKey): Promise<boolean> {
    const claimed = claimedKey(this.#context.model, key);
    if (!this.#hasClaims || !canBeStored(claimed, this.#context.limits.keyBytes)) return false;
    if (!this.#run.lease.isHeld) return this.#claims.has(keyIdOf(claimed, specificationOrder));
    return (await this.#context.kv.get(claimed)).versionstamp !== null;
  }

  /** Stores the progress, so that the verification can be resumed from here. */
  async save(): Promise<void> {
    const key = verifyingKey(this.#context.model);
    const pieces =
      this.isSumming || !(this.#areSumsSaved || this.sums.areZero) ? this.sums.toPieces() : [];
    await this.#run.lease.write((operation) => {
      operation.set(key, this.state);
      for (const [kind, list] of Object.entries(this.listed)) {
        const saved = this.#saved[kind as keyof Listed];
        for (let i = saved; i < list.length; i++) operation.set([...key, kind, i], list[i]);
      }
      for (const [i, piece] of pieces.entries()) {
        if (piece === undefined) operation.delete([...key, "sums", i]);
        else operation.set([...key, "sums", i], piece);
      }
    });
    this.#isStored = true;
    this.#areSumsSaved = !this.isSumming;
    this.#noteSaved();
  }

  async clear(): Promise<void> {
    await clearStored(this.#context, this.#run, this.#isStored);
    this.#isStored = false;
  }

  async #load(): Promise<void> {
    const key = verifyingKey(this.#context.model);
    for await (const { key: stored, value } of this.#context.kv.list<unknown>({ prefix: key })) {
      const [kind, position] = stored.slice(key.length);
      if (kind === "claimed") this.#hasClaims = true;
      else if (kind === "sums") this.sums.setPiece(Number(position), value as Uint8Array);
      else (this.listed[kind as keyof Listed] as unknown[]).push(value);
    }
    // The rest of the first phase changes the sums.
    this.#areSumsSaved = !this.isSumming;
    this.#noteSaved();
  }

  #noteSaved(): void {
    for (const kind of Object.keys(this.#saved) as (keyof Listed)[]) {
      this.#saved[kind] = this.listed[kind].length;
    }
  }
}

/** Deletes everything that is stored of a verification of the model. */
async function clearStored(
  context: ModelStore,
  run: MigrationRun,
  isStored: boolean,
): Promise<void> {
  if (!run.lease.isHeld) return;
  const key = verifyingKey(context.model);
  // The state is deleted first. If the run ends after that, the next verification deletes the rest.
  if (isStored) await run.lease.write((operation) => operation.delete(key));
  await clearRecords(context, run, key);
}
