import type { AtomicCheck } from "@keywright/core";
import { IndexChangedError, StaleSchemaError } from "../errors/schema-errors.js";
import type { CompiledIndex, CompiledModel } from "../model/compiled-model.js";
import { isSameIndex } from "../schema/index-manifest.js";
import {
  type CatalogEntry,
  catalogKey,
  declaredCounters,
  type IndexState,
  isMaintained,
  rowCounter,
  storedIndex,
} from "./catalog-entry.js";

/** Some of a model's counters. */
export interface CounterSet {
  /** The number of all rows is one of them. */
  readonly rows: boolean;
  /** The indexes whose groups are counted. */
  readonly indexes: ReadonlySet<CompiledIndex>;
}

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
  /** The counters that hold every row, and that every write has to keep up. */
  readonly counters: CounterSet | undefined;
  /** Those that are being built: they hold the rows that have a mark of it. */
  readonly growingCounters: CounterSet | undefined;
  readonly #model: CompiledModel;
  /** What the database keeps up and this program does not know. */
  readonly #unknown: readonly string[];

  /**
   * @throws {IndexChangedError} where the database has an index of another definition under the same name.
   */
  constructor(model: CompiledModel, entry: CatalogEntry, versionstamp: string) {
    for (const index of model.indexes) assertUnchanged(model, index, entry);
    this.entry = entry;
    this.check = { key: catalogKey(model), versionstamp };
    this.#model = model;
    this.maintained = model.indexes.filter((index) => isMaintained(this.stateOf(index)));
    const names = declaredCounters(model).filter((name) => isMaintained(this.counterState(name)));
    const isComplete = (name: string) => this.counterState(name) === "readable";
    this.counters = counterSet(model, names.filter(isComplete));
    this.growingCounters = counterSet(
      model,
      names.filter((name) => !isComplete(name)),
    );
    this.#unknown = unknownTo(model, entry);
  }

  stateOf(index: CompiledIndex): IndexState {
    return storedUnder(this.entry, index)?.state ?? "absent";
  }

  /**
   * The state of a counter: `""` is that of all rows, an index's name that of its groups. It can be read where it is
   * readable; it is absent where it is new to a model with rows.
   */
  counterState(name: string): IndexState {
    const { counters = {} } = this.entry;
    return Object.hasOwn(counters, name) ? (counters[name] ?? "absent") : "absent";
  }

  /**
   * @throws {StaleSchemaError} where the database has an index or a counter that this program would not keep up.
   */
  assertWritable(): void {
    if (this.#unknown.length > 0) throw new StaleSchemaError(this.#model.name, this.#unknown);
  }
}

/** The indexes and counters that a catalog entry says are kept up, and that a program's model does not have. */
function unknownTo(model: CompiledModel, { indexes, counters = {} }: CatalogEntry): string[] {
  const known = new Set(model.indexes.map((index) => index.name));
  const unknown = Object.entries(indexes)
    .filter(([name, index]) => !known.has(name) && isMaintained(index.state))
    .map(([name]) => name);
  const counted = new Set(declaredCounters(model));
  for (const [name, state] of Object.entries(counters)) {
    if (counted.has(name) || !isMaintained(state)) continue;
    unknown.push(`count of ${name === rowCounter ? "rows" : name}`);
  }
  return unknown;
}

function counterSet(model: CompiledModel, names: readonly string[]): CounterSet | undefined {
  if (names.length === 0) return undefined;
  const indexes = model.indexes.filter((index) => names.includes(index.name));
  return { rows: names.includes(rowCounter), indexes: new Set(indexes) };
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
