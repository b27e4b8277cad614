import { OrmError } from "./orm-error.js";

/**
 * A model's definition contradicts itself, its schema or another model. `at` is the place in the
 * definition.
 */
export class ModelDefinitionError extends OrmError {
  readonly at: string;
  readonly reason: string;

  constructor(model: string, at: string, reason: string) {
    super("KW_MODEL_INVALID", model);
    this.at = at;
    this.reason = reason;
  }
}

/** The progress of a backfill. */
export interface IndexProgress {
  readonly rowsDone: number;
  /** Absent if the rows were not counted. */
  readonly rowsTotal?: number;
}

/**
 * The state of an index that cannot be read.
 *
 * - `"absent"`: it has no entries, because its backfill has not begun.
 * - `"write-only"`: its backfill is running.
 * - `"verifying"`: rows and entries are being compared.
 * - `"unique-pending"`: it is built, but several rows share a unique value. It becomes readable
 *   when the last duplicate is gone. A migration does not resolve duplicates.
 * - `"disabled"`: another index has replaced it. It can become readable again.
 * - `"dropping"`: its entries are being deleted.
 * - `"outdated"`: its entries match the stored rows, but not the rows as the program reads them. A
 *   migration must change the rows first.
 */
export type UnreadableState =
  | "absent"
  | "write-only"
  | "verifying"
  | "unique-pending"
  | "disabled"
  | "dropping"
  | "outdated";

/** An index is declared but cannot be read yet. `state` says why. */
export class IndexNotReadyError extends OrmError {
  readonly index: string;
  readonly state: UnreadableState;
  /** Undefined if the index is not being built. */
  readonly progress: IndexProgress | undefined;

  constructor(model: string, index: string, state: UnreadableState, progress?: IndexProgress) {
    super("KW_INDEX_NOT_READY", model, { retryable: true });
    this.index = index;
    this.state = state;
    this.progress = progress;
  }
}

/** The model has no index of this name. */
export class UnknownIndexError extends OrmError {
  readonly index: string;
  readonly known: readonly string[];

  constructor(model: string, index: string, known: readonly string[]) {
    super("KW_INDEX_UNKNOWN", model);
    this.index = index;
    this.known = known;
  }
}

/** The database contains an index of this name with another key, prefix, uniqueness or code. */
export class IndexChangedError extends OrmError {
  readonly index: string;
  readonly stored: unknown;
  readonly declared: unknown;

  constructor(model: string, index: string, stored: unknown, declared: unknown) {
    super("KW_INDEX_CHANGED", model);
    this.index = index;
    this.stored = stored;
    this.declared = declared;
  }
}

/**
 * A write was refused because the database maintains something that the program's models lack. The
 * program is older than the database's schema. Or it is newer, has dropped that thing, and was not
 * migrated yet. Reads still work.
 */
export class StaleSchemaError extends OrmError {
  /** Short sentences about what the program's model lacks. */
  readonly differences: readonly string[];

  constructor(model: string, differences: readonly string[]) {
    super("KW_STALE_SCHEMA", model);
    this.differences = differences;
  }
}
