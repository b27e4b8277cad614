import type { KvKey, KvKeyPart } from "@keywright/core";
import { type CompiledModel, systemPrefix } from "../../../model/compiled-model.js";
import { canBeStored } from "../../../model/keys/can-be-stored.js";
import { count, is, key, nullable, object, optional, text } from "../../../model/shape.js";
import {
  type UnindexedRow,
  type UnindexedRows,
  unindexedRowsShape,
} from "../../../state/catalog/backfill-state.js";
import { readSystemValue, type SystemShape } from "../../../state/catalog/system-value.js";
import type { ModelStore } from "../../../state/context/model-store.js";
import type { MigrationRun } from "../../../state/run/migration-run.js";
import { withUnindexed } from "../fill/unindexed-rows.js";
import { EntrySums } from "./entry-sums.js";

/** A wrong entry of an index. */
export interface EntryFinding {
  /**
   * `"missing"`: the row has no entry. `"mismatched"`: the entry under the key is not the row's,
   * for example a pointer to another row or an old copy of the row. `"dangling"`: the entry belongs
   * to no row.
   */
  readonly kind: "missing" | "dangling" | "mismatched";
  readonly model: string;
  readonly index: string;
  /** The key of the entry. */
  readonly key: KvKey;
  /**
   * The primary key of the row that should have the entry. For a dangling entry, the row that it
   * names, or null if it names none.
   */
  readonly primaryKey: readonly KvKeyPart[] | null;
  /** True if the entry was repaired. */
  readonly repaired: boolean;
  /**
   * The primary key of another row that rightfully has the unique value. Only a change of one of
   * the two rows can repair this.
   */
  readonly heldBy?: readonly KvKeyPart[];
}

/** The number of findings of each kind. */
export type FindingCounts = Readonly<Record<EntryFinding["kind"], number>>;

/**
 * The scans of a verification. The first two sum up the entries that rows should have, and the
 * entries that are stored. The last two check the entries of the rows one by one, and then the rows
 * of the entries. They are skipped if all indexes hold pointers and the sums are equal.
 */
export type VerifyPhase = "sum-rows" | "sum-entries" | "rows" | "entries";

/** The progress of a verification, as it is stored. */
export interface VerifyState {
  readonly format: 1;
  /** Identifies what is verified and why. Only a verification of the same subject is resumed. */
  readonly subject: string;
  readonly phase: VerifyPhase;
  /** The position of the index that is scanned, if the phase scans entries. */
  readonly position: number;
  /** The last key of this scan that is done. Null before the first. */
  readonly after: KvKey | null;
  readonly scanned: number;
  /** The number of rows and entries that were read. */
  readonly rows: number;
  readonly entries: number;
  readonly counts: FindingCounts;
  readonly repaired: number;
  /** Absent if there are none. */
  readonly conflicts?: number;
  /** Rows that an index cannot hold. Absent if there are none. */
  readonly unindexed?: UnindexedRows;
  /** Set while the counters are rebuilt, after all scans are done. */
  readonly recounts?: true;
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

const maxFindings = 100;

/** The number of keys that one commit deletes. It is small because the keys may be long. */
const deletedAtOnce = 40;
const noFindings: FindingCounts = { missing: 0, dangling: 0, mismatched: 0 };

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
  readonly sums: EntrySums = new EntrySums();
  readonly findings: EntryFinding[] = [];
  state: VerifyState;
  readonly #context: ModelStore;
  readonly #run: MigrationRun;
  #isStored: boolean;
  #areSumsSaved = false;
  #savedFindings = 0;
  #hasClaims = false;

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
    phase: VerifyPhase,
  ): Promise<Verification> {
    const key = verifyingKey(context.model);
    const value = await readSystemValue(context.kv, key, verificationShape, context.model.name);
    if (value?.subject === subject) {
      const resumed = new Verification(context, run, value, true);
      await resumed.#load();
      return resumed;
    }
    const state: VerifyState = {
      format: 1,
      subject,
      phase,
      position: 0,
      after: null,
      scanned: 0,
      rows: 0,
      entries: 0,
      counts: noFindings,
      repaired: 0,
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

  add(finding: EntryFinding): void {
    const { counts, repaired, conflicts = 0 } = this.state;
    if (this.findings.length < maxFindings) this.findings.push(finding);
    this.state = {
      ...this.state,
      counts: { ...counts, [finding.kind]: counts[finding.kind] + 1 },
      repaired: repaired + (finding.repaired ? 1 : 0),
      ...(finding.heldBy !== undefined && { conflicts: conflicts + 1 }),
    };
  }

  addUnindexed(rows: readonly UnindexedRow[]): void {
    const unindexed = withUnindexed(this.state.unindexed, rows);
    if (unindexed !== undefined) this.state = { ...this.state, unindexed };
  }

  /**
   * Moves the position of the scan forward.
   *
   * @param after the last key that is done.
   * @param looked how many rows or entries were read.
   * @param counted the total to which they are added, if any.
   */
  advance(after: KvKey | null, looked: number, counted: "rows" | "entries" | undefined): void {
    const { scanned } = this.state;
    const moved = { ...this.state, after, scanned: scanned + looked };
    this.state =
      counted === undefined ? moved : { ...moved, [counted]: this.state[counted] + looked };
  }

  beginScan(phase: VerifyPhase, position: number): void {
    this.state = { ...this.state, phase, position, after: null, scanned: 0 };
  }

  /** Remembers for the scan of the entries that a key was reported as mismatched. */
  async claim(key: KvKey): Promise<void> {
    const claimed = claimedKey(this.#context.model, key);
    // The key is then reported twice.
    if (!canBeStored(claimed, this.#context.limits.keyBytes)) return;
    this.#hasClaims = true;
    await this.#run.lease.write((operation) => operation.set(claimed, true));
  }

  /** Returns whether this key was reported as mismatched. */
  async isClaimed(key: KvKey): Promise<boolean> {
    const claimed = claimedKey(this.#context.model, key);
    if (!this.#hasClaims || !canBeStored(claimed, this.#context.limits.keyBytes)) return false;
    return (await this.#context.kv.get(claimed)).versionstamp !== null;
  }

  /** Stores the progress, so that the verification can be resumed from here. */
  async save(): Promise<void> {
    const key = verifyingKey(this.#context.model);
    const isSumming = this.state.phase === "sum-rows" || this.state.phase === "sum-entries";
    const pieces =
      isSumming || !(this.#areSumsSaved || this.sums.areZero) ? this.sums.toPieces() : [];
    const unsaved = this.findings.slice(this.#savedFindings);
    await this.#run.lease.write((operation) => {
      operation.set(key, this.state);
      for (const [i, finding] of unsaved.entries()) {
        operation.set([...key, "finding", this.#savedFindings + i], finding);
      }
      for (const [i, piece] of pieces.entries()) {
        if (piece === undefined) operation.delete([...key, "sums", i]);
        else operation.set([...key, "sums", i], piece);
      }
    });
    this.#isStored = true;
    this.#areSumsSaved = !isSumming;
    this.#savedFindings += unsaved.length;
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
      else if (kind === "finding") this.findings.push(value as EntryFinding);
      else if (kind === "sums") this.sums.setPiece(Number(position), value as Uint8Array);
    }
    this.#savedFindings = this.findings.length;
    this.#areSumsSaved = true;
  }
}

/** Deletes everything that is stored of a verification of the model. */
async function clearStored(
  context: ModelStore,
  run: MigrationRun,
  isStored: boolean,
): Promise<void> {
  const key = verifyingKey(context.model);
  // The state is deleted first. If the process dies after that, the next verification deletes the
  // rest.
  if (isStored) await run.lease.write((operation) => operation.delete(key));
  for (;;) {
    const keys: KvKey[] = [];
    const options = { limit: deletedAtOnce, batchSize: deletedAtOnce };
    for await (const entry of context.kv.list({ prefix: key }, options)) keys.push(entry.key);
    if (keys.length === 0) return;
    await run.lease.write((operation) => {
      for (const left of keys) operation.delete(left);
    });
    await run.afterBatch(0);
  }
}
