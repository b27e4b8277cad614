import { OrmError } from "./orm-error.js";

/** A model whose definition contradicts itself, its schema or another model. `at` is the place within it. */
export class ModelDefinitionError extends OrmError {
  readonly at: string;
  readonly reason: string;

  constructor(model: string, at: string, reason: string) {
    super("KW_MODEL_INVALID", model);
    this.at = at;
    this.reason = reason;
  }
}

/** How far the building of an index has come. */
export interface IndexProgress {
  readonly rowsDone: number;
  /** Absent where the rows were not counted. */
  readonly rowsTotal?: number;
}

/**
 * Where an index is in its life that cannot be read. `"unique-pending"`: it is built, and rows share a unique value: a run does
 * nothing about that. `"outdated"`: its rows are to change first. `"disabled"`: another has taken its place.
 */
export type UnreadableState =
  | "absent"
  | "write-only"
  | "verifying"
  | "unique-pending"
  | "disabled"
  | "dropping"
  | "outdated";

/** A read through an index that is declared and cannot be read yet: `state` says what it waits for. */
export class IndexNotReadyError extends OrmError {
  readonly index: string;
  readonly state: UnreadableState;
  /** Undefined where it is not being built. */
  readonly progress: IndexProgress | undefined;

  constructor(model: string, index: string, state: UnreadableState, progress?: IndexProgress) {
    super("KW_INDEX_NOT_READY", model, { retryable: true });
    this.index = index;
    this.state = state;
    this.progress = progress;
  }
}

/** An index name that the model does not have. */
export class UnknownIndexError extends OrmError {
  readonly index: string;
  readonly known: readonly string[];

  constructor(model: string, index: string, known: readonly string[]) {
    super("KW_INDEX_UNKNOWN", model);
    this.index = index;
    this.known = known;
  }
}

/** An index whose key, prefix or uniqueness is not what the database holds under its name. */
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
 * A write by a program whose models lack something that the database keeps up: they are older, or newer ones that have dropped
 * it and were not migrated to. Its reads still work.
 */
export class StaleSchemaError extends OrmError {
  /** What this program's model lacks, a short sentence each. */
  readonly differences: readonly string[];

  constructor(model: string, differences: readonly string[]) {
    super("KW_STALE_SCHEMA", model);
    this.differences = differences;
  }
}
