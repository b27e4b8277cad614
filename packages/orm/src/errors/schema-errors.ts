import type { KvKey, Progress } from "@keywright/core";
import { clause, listText } from "./message-parts.js";
import { knownNames } from "./nearest-name.js";
import { OrmError } from "./orm-error.js";

/**
 * A model's definition contradicts itself, its schema or another model. `at` is the place in the
 * definition.
 */
export class ModelDefinitionError extends OrmError {
  readonly at: string;
  readonly reason: string;

  constructor(model: string, at: string, reason: string) {
    const place = at === "" ? "the definition" : at;
    super("KW_MODEL_INVALID", model, `${place} is not valid: ${clause(reason)}`);
    this.at = at;
    this.reason = reason;
  }
}

/**
 * The state of an index that cannot be read.
 *
 * - `"absent"`: it has no entries, because its backfill has not begun.
 * - `"write-only"`: its backfill is running.
 * - `"verifying"`: rows and entries are being compared.
 * - `"unique-pending"`: it is built, but several rows share a unique value. It becomes readable
 *   when the last duplicate is gone. A migration does not resolve duplicates.
 * - `"disabled"`: it is to be removed. A migration has begun this, or an earlier release has
 *   replaced it with another index.
 * - `"dropping"`: its entries are being deleted.
 * - `"outdated"`: its entries match the stored rows, but not the rows as the program reads them. A
 *   migration must change the rows first.
 * - `"replaced"`: a new definition has replaced the one that the query began to read.
 */
export type UnreadableState =
  | "absent"
  | "write-only"
  | "verifying"
  | "unique-pending"
  | "disabled"
  | "dropping"
  | "replaced"
  | "outdated";

const building = "wait until the migration that builds it has finished";

/** The end of a message for each state: its meaning and the next step. */
const stateTexts: Readonly<Record<UnreadableState, string>> = {
  absent: "it is not built yet; run migrate",
  "write-only": `its backfill is running or was stopped; ${building}, or run migrate`,
  verifying: `its entries are being verified; ${building}, or run migrate`,
  "unique-pending":
    "several rows share one of its unique values; list them with findDuplicates, and change or delete all but one of each",
  disabled: "it is to be removed; use another index, or run migrate to build it again",
  dropping: "its entries are being deleted; run migrate to build it again",
  outdated: "the stored rows have an earlier schema, or copied fields are not filled; run migrate",
  replaced: "it was rebuilt while the query read it; run the query again",
};

function progressText(progress: Progress | undefined): string {
  if (progress === undefined) return "";
  const { done, total } = progress;
  return ` (${done} rows${total === undefined ? "" : ` of ${total}`} done)`;
}

/** An index is declared but cannot be read yet. `state` says why. */
export class IndexNotReadyError extends OrmError {
  readonly index: string;
  readonly state: UnreadableState;
  /** Undefined if the index is not being built. */
  readonly progress: Progress<"building"> | undefined;

  constructor(
    model: string,
    index: string,
    state: UnreadableState,
    progress?: Progress<"building">,
    subject = `the index ${index}`,
  ) {
    const text = `${subject} cannot be read: ${stateTexts[state]}${progressText(progress)}`;
    super("KW_INDEX_NOT_READY", model, text, { retryable: true });
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
    super(
      "KW_INDEX_UNKNOWN",
      model,
      `there is no index ${JSON.stringify(index)}; ${knownNames(index, known, "indexes")}`,
    );
    this.index = index;
    this.known = known;
  }
}

/** The database contains an index of this name with another key, prefix, uniqueness or code. */
export class IndexChangedError extends OrmError {
  readonly index: string;
  readonly stored: unknown;
  readonly declared: unknown;

  /** How the program's definition differs from that of the database, in clauses. */
  readonly differences: readonly string[];

  constructor(
    model: string,
    index: string,
    stored: unknown,
    declared: unknown,
    differences: readonly string[],
    onlyFunctions: boolean,
  ) {
    const advice = onlyFunctions
      ? "if the functions return the same, because the programs are built in different ways, run keywright migrate run --same-functions and give the index a version; otherwise run migrate to rebuild it"
      : "run migrate to rebuild it, or give the new definition another name";
    const text = `the database has another definition of the index ${index}: ${differences.join(", ")}; ${advice}`;
    super("KW_INDEX_CHANGED", model, text);
    this.differences = differences;
    this.index = index;
    this.stored = stored;
    this.declared = declared;
  }
}

/**
 * A write was refused because the database maintains something that the program's models lack. The
 * program is older than the database's schema. Or it is newer, has dropped that thing, and was not
 * migrated yet. A write is also refused if the model has a unique index that another program has
 * dropped. A read is refused only if a row does not fit the program's schema.
 */
export class StaleSchemaError extends OrmError {
  /** Short sentences about what the program's model lacks. */
  readonly differences: readonly string[];

  constructor(model: string, differences: readonly string[]) {
    const text = `the database has a schema that this program does not know: ${listText(differences.map(clause))}`;
    super(
      "KW_STALE_SCHEMA",
      model,
      `${text}; deploy the program that has this schema, or run migrate to give the database this program's models`,
    );
    this.differences = differences;
  }
}

/**
 * Another program has dropped the model from the database. The rows are being removed, or they are
 * gone already, so this program can neither read nor write the model. The error is also thrown if
 * the database was emptied after the program had opened it.
 */
export class ModelDroppedError extends OrmError {
  /** True while rows or index entries of the model are left. */
  readonly isRemoving: boolean;

  constructor(model: string, isRemoving: boolean) {
    super(
      "KW_MODEL_DROPPED",
      model,
      isRemoving
        ? "the model was dropped from the database, and its rows are being removed; remove it from this program's models, and run migrate to complete the removal"
        : "the database no longer has the model, because it was dropped, or because the database was emptied; restart the program without the model, or with it to begin with no rows",
    );
    this.isRemoving = isRemoving;
  }
}

/**
 * The database stores a model's rows by another primary key than the program's model has. Rows that
 * exist would not be found, so the program can neither read nor write the model.
 */
export class PrimaryKeyDiffersError extends OrmError {
  /** The fields of the primary key by which the database stores the rows. */
  readonly stored: readonly string[];
  /** The fields of the primary key of the program's model. */
  readonly declared: readonly string[];

  constructor(model: string, stored: readonly string[], declared: readonly string[]) {
    const [before, now] = [JSON.stringify(stored), JSON.stringify(declared)];
    const text = `the database stores the rows by the primary key ${before}, and this program's model has ${now}`;
    const advice = `give the model the primary key ${before}, or run migrate to store the rows by ${now}`;
    super("KW_PRIMARY_KEY_DIFFERS", model, `${text}; ${advice}`);
    this.stored = stored;
    this.declared = declared;
  }
}

/**
 * An entry under `__keywright` is not what Keywright stores there. An import or another program may
 * have written it.
 */
export class SystemEntryError extends OrmError {
  readonly key: KvKey;
  /** The field of its value that is not valid. Empty if it is the value as a whole. */
  readonly at: string;

  constructor(model: string, key: KvKey, at: string, remedy: string) {
    // Later parts of a key may be stored values.
    const parts = key.slice(0, 3).map((part) => JSON.stringify(String(part)));
    const place = `[${parts.join(", ")}${key.length > 3 ? ", …" : ""}]`;
    const field = at === "" ? "" : ` (${at})`;
    super(
      "KW_SYSTEM_ENTRY_INVALID",
      model,
      `the internal entry ${place} is not valid${field}, so something other than Keywright has written it; ${remedy}`,
    );
    this.key = key;
    this.at = at;
  }
}
