import type { AtomicOperation, KvKey, KvKeyPart } from "@keywright/core";
import type { UnindexedRow, UnindexedRows } from "../../catalog/backfill-state.js";
import type { TableContext } from "../../context/table-context.js";
import { canBeStored } from "../../indexes/can-be-stored.js";
import { type CompiledModel, ownPrefix } from "../../model/compiled-model.js";
import { withUnindexed } from "../build/unindexed-rows.js";
import type { MigrationRun } from "../run/migration-run.js";
import { EntrySums } from "./entry-sums.js";

/** Something that is wrong with an index. */
export interface EntryFinding {
  /**
   * `"missing"`: a row has no entry where it should have one. `"mismatched"`: what is there is not the row's: a pointer to
   * another row, or a copy of the row as it was. `"dangling"`: no row has the entry.
   */
  readonly kind: "missing" | "dangling" | "mismatched";
  readonly model: string;
  readonly index: string;
  /** The key of the entry. */
  readonly key: KvKey;
  /** Of the row that should have the entry, or that a dangling one names; null where it names none. */
  readonly primaryKey: readonly KvKeyPart[] | null;
  /** It was put right. */
  readonly repaired: boolean;
  /** The other row that has the unique value by right, so that nothing can be put right but one of the two rows. */
  readonly heldBy?: readonly KvKeyPart[];
}

/** How many findings there are of each kind. */
export type FindingCounts = Readonly<Record<EntryFinding["kind"], number>>;

/**
 * A verification sums up what rows should have and then what there is; where that differs, it looks at the rows' entries
 * one by one, and then at the rows of the entries.
 */
export type VerifyPhase = "sum-rows" | "sum-entries" | "rows" | "entries";

/** How far a verification has come, stored beside the catalog. */
export interface VerifyState {
  readonly format: 1;
  /** What is verified, and why: only the same is gone on with. */
  readonly subject: string;
  readonly phase: VerifyPhase;
  /** Which of the indexes is scanned, where entries are. */
  readonly position: number;
  /** The last key that is done of this scan; null before the first. */
  readonly after: KvKey | null;
  /** How many rows or entries are done of this scan. */
  readonly scanned: number;
  /** Rows and entries that there were. */
  readonly rows: number;
  readonly entries: number;
  readonly counts: FindingCounts;
  readonly repaired: number;
  /** Absent where there is none. */
  readonly conflicts?: number;
  /** Rows that an index cannot hold; absent where there is none. */
  readonly unindexed?: UnindexedRows;
  /** All scans are done, and the counters are being built anew. */
  readonly recounts?: true;
}

/** So many findings are kept; the others are counted. */
const maxFindings = 100;

/** Keys that are deleted by one commit: few, for they may be long. */
const deletedAtOnce = 40;
const none: FindingCounts = { missing: 0, dangling: 0, mismatched: 0 };

function verifyingKey(model: CompiledModel): KvKey {
  return [ownPrefix, "verifying", model.prefix];
}

/**
 * There for each key of a unique index that a row should have, while an entry is there which no row has by right: it has
 * been reported as mismatched, and is no dangling one on top of that.
 */
function claimedKey(model: CompiledModel, key: KvKey): KvKey {
  return [...verifyingKey(model), "claimed", ...key];
}

/** A verification under way: what it has found, and what of that is stored. */
export class Verification {
  readonly sums: EntrySums = new EntrySums();
  /** The first ones. */
  readonly findings: EntryFinding[] = [];
  state: VerifyState;
  readonly #context: TableContext;
  readonly #run: MigrationRun;
  #isStored: boolean;
  #areSumsSaved = false;
  #savedFindings = 0;
  #hasClaims = false;

  private constructor(
    context: TableContext,
    run: MigrationRun,
    state: VerifyState,
    isStored: boolean,
  ) {
    this.#context = context;
    this.#run = run;
    this.state = state;
    this.#isStored = isStored;
  }

  /** Goes on with the verification of this subject that was stopped, or begins one. */
  static async open(
    context: TableContext,
    run: MigrationRun,
    subject: string,
    phase: VerifyPhase,
  ): Promise<Verification> {
    const key = verifyingKey(context.model);
    const { value, versionstamp } = await context.kv.get<VerifyState>(key);
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
      counts: none,
      repaired: 0,
    };
    const begun = new Verification(context, run, state, versionstamp !== null);
    // What one that was given up has left.
    await begun.#clear();
    return begun;
  }

  /** Removes what a verification that was part of something has left, where that ends without one. */
  static async forget(context: TableContext, run: MigrationRun, partOf: string): Promise<void> {
    const { value } = await context.kv.get<VerifyState>(verifyingKey(context.model));
    if (value !== null && JSON.parse(value.subject)[0] !== partOf) return;
    await clearStored(context, run, value !== null);
  }

  /** Counts a finding, and keeps it where it is one of the first. */
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

  /** Counts rows that an index cannot hold, and keeps the first of them. */
  addUnindexed(rows: readonly UnindexedRow[]): void {
    const unindexed = withUnindexed(this.state.unindexed, rows);
    if (unindexed !== undefined) this.state = { ...this.state, unindexed };
  }

  /** Goes on behind so many rows or entries. */
  advance(after: KvKey | null, looked: number, counted: "rows" | "entries" | undefined): void {
    const { scanned } = this.state;
    const moved = { ...this.state, after, scanned: scanned + looked };
    this.state =
      counted === undefined ? moved : { ...moved, [counted]: this.state[counted] + looked };
  }

  /** Begins a scan: of the rows, or of the entries of the index at this position. */
  beginScan(phase: VerifyPhase, position: number): void {
    this.state = { ...this.state, phase, position, after: null, scanned: 0 };
  }

  /** Remembers that a key was reported as mismatched, for the scan of the entries. */
  async claim(key: KvKey): Promise<void> {
    const claimed = claimedKey(this.#context.model, key);
    // Then it is found twice.
    if (!canBeStored(claimed, this.#context.limits.keyBytes)) return;
    this.#hasClaims = true;
    await this.#write((operation) => operation.set(claimed, true));
  }

  /** Whether this key was reported as mismatched. */
  async isClaimed(key: KvKey): Promise<boolean> {
    const claimed = claimedKey(this.#context.model, key);
    if (!this.#hasClaims || !canBeStored(claimed, this.#context.limits.keyBytes)) return false;
    return (await this.#context.kv.get(claimed)).versionstamp !== null;
  }

  /**
   * Stores how far it has come, so that it can be gone on with from here.
   *
   * @throws {LeaseLostError} where another runner has the lease.
   */
  async save(): Promise<void> {
    const key = verifyingKey(this.#context.model);
    const isSumming = this.state.phase === "sum-rows" || this.state.phase === "sum-entries";
    const pieces =
      isSumming || !(this.#areSumsSaved || this.sums.areZero) ? this.sums.toPieces() : [];
    const unsaved = this.findings.slice(this.#savedFindings);
    await this.#write((operation) => {
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

  /** Removes all that is stored of it. */
  end(): Promise<void> {
    return this.#clear();
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

  async #clear(): Promise<void> {
    await clearStored(this.#context, this.#run, this.#isStored);
    this.#isStored = false;
  }

  async #write(fill: (operation: AtomicOperation) => void): Promise<void> {
    await write(this.#context, this.#run, fill);
  }
}

/** Removes all that is stored of a verification. */
async function clearStored(
  context: TableContext,
  run: MigrationRun,
  isStored: boolean,
): Promise<void> {
  const key = verifyingKey(context.model);
  // The state first: what is left without it is cleared by the next one.
  if (isStored) await write(context, run, (operation) => operation.delete(key));
  for (;;) {
    const keys: KvKey[] = [];
    const options = { limit: deletedAtOnce, batchSize: deletedAtOnce };
    for await (const entry of context.kv.list({ prefix: key }, options)) keys.push(entry.key);
    if (keys.length === 0) return;
    await write(context, run, (operation) => {
      for (const left of keys) operation.delete(left);
    });
    await run.took(0);
  }
}

/** Commits what nobody else writes while the lease is held: no check of it fails but that of the lease, which is renewed. */
async function write(
  { kv }: TableContext,
  { lease }: MigrationRun,
  fill: (operation: AtomicOperation) => void,
): Promise<void> {
  for (;;) {
    const operation = kv.atomic();
    fill(operation);
    if ((await lease.commit(operation)).ok) return;
  }
}
