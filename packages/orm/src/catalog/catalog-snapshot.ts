import type { AtomicCheck } from "@keywright/core";
import { IndexChangedError, StaleSchemaError } from "../errors/schema-errors.js";
import type { CompiledIndex, CompiledModel } from "../model/compiled-model.js";
import {
  type CatalogEntry,
  catalogKey,
  type IndexState,
  isMaintained,
  isSameIndex,
  storedIndex,
} from "./catalog-entry.js";

/**
 * A model's catalog entry as it was at one time. What is planned by a snapshot is committed under its check, so that the
 * plan holds where the commit does: both come from one object, whatever is read meanwhile.
 */
export class CatalogSnapshot {
  readonly entry: CatalogEntry;
  /** The condition that the catalog is still as it was read: part of every commit that writes a row. */
  readonly check: AtomicCheck;
  /** The indexes that a write has to keep up. */
  readonly maintained: readonly CompiledIndex[];
  readonly #model: CompiledModel;

  /**
   * @throws {IndexChangedError} where the database has an index of another definition under the same name.
   */
  constructor(model: CompiledModel, entry: CatalogEntry, versionstamp: string) {
    for (const index of model.indexes) assertUnchanged(model, index, entry);
    this.entry = entry;
    this.check = { key: catalogKey(model), versionstamp };
    this.#model = model;
    this.maintained = model.indexes.filter((index) => isMaintained(this.stateOf(index)));
  }

  stateOf(index: CompiledIndex): IndexState {
    return storedUnder(this.entry, index)?.state ?? "absent";
  }

  /**
   * @throws {StaleSchemaError} where the database has an index that this program would not keep up.
   */
  assertWritable(): void {
    const known = new Set(this.#model.indexes.map((index) => index.name));
    const unknown = Object.entries(this.entry.indexes)
      .filter(([name, index]) => !known.has(name) && isMaintained(index.state))
      .map(([name]) => name);
    if (unknown.length > 0) throw new StaleSchemaError(this.#model.name, unknown);
  }
}

function storedUnder(entry: CatalogEntry, index: CompiledIndex) {
  return Object.hasOwn(entry.indexes, index.name) ? entry.indexes[index.name] : undefined;
}

function assertUnchanged(model: CompiledModel, index: CompiledIndex, entry: CatalogEntry): void {
  const stored = storedUnder(entry, index);
  if (stored === undefined) return;
  const declared = storedIndex(index, stored.state);
  if (isSameIndex(stored, declared)) return;
  throw new IndexChangedError(model.name, index.name, stored, declared);
}
