import type { AtomicCheck } from "@keywright/core";
import { SchemaNotMigratedError } from "../errors/migration-errors.js";
import { IndexChangedError, StaleSchemaError } from "../errors/schema-errors.js";
import type { CompiledIndex, CompiledModel } from "../model/compiled-model.js";
import { indexManifest, isSameIndex } from "../schema/index-manifest.js";
import {
  type CatalogEntry,
  catalogKey,
  declaredCounters,
  type IndexState,
  isMaintained,
  rowCounter,
  storedIndex,
} from "./catalog-entry.js";
import type { RowSchemas, UpgradeRow } from "./row-schemas.js";

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
  /** Rows of an earlier schema are made the program's as they are read. */
  readonly upgradesRows: boolean;
  /** This program may write: {@link assertWritable} says why not. */
  readonly isWritable: boolean;
  /** The program's schema is still to be made known to the database: see `ModelCatalog.makeKnown`. */
  readonly isUnknown: boolean;
  /** A unique index waits for its last duplicate to go. */
  readonly hasPendingIndex: boolean;
  readonly #model: CompiledModel;
  /** What the database keeps up and this program does not know. */
  readonly #unknown: readonly string[];
  /** The first of the indexes that the database keeps up by another definition. */
  readonly #changed: CompiledIndex | undefined;
  readonly #schemas: RowSchemas;
  readonly #states = new Map<CompiledIndex, IndexState>();

  constructor(
    model: CompiledModel,
    entry: CatalogEntry,
    versionstamp: string,
    schemas: RowSchemas,
  ) {
    this.entry = entry;
    this.#schemas = schemas;
    for (const index of model.indexes) this.#states.set(index, stateIn(entry, index));
    this.upgradesRows = schemas.now !== undefined || schemas.before?.upgrade !== undefined;
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
    this.isUnknown = !schemas.isKnown;
    this.#unknown = unknownTo(model, entry, schemas.relations);
    this.#changed = model.indexes.find((index) => this.isChanged(index));
    this.isWritable =
      this.#unknown.length === 0 && this.#changed === undefined && schemas.fence === "open";
    this.hasPendingIndex = model.indexes.some((index) => this.stateOf(index) === "unique-pending");
  }

  /** The state of an index; of one with another definition than the database's, what is left of that. */
  stateOf(index: CompiledIndex): IndexState {
    return this.#states.get(index) ?? stateIn(this.entry, index);
  }

  /** Whether queries can use an index: it is complete, and of rows as the program has them. */
  canRead(index: CompiledIndex): boolean {
    return this.stateOf(index) === "readable" && !this.isOutdated(index);
  }

  /** Whether an index's entries are of rows as they are stored, where the program makes other rows of them. */
  isOutdated(index: CompiledIndex): boolean {
    return this.#schemas.outdated.length > 0 && this.#schemas.outdated.includes(index);
  }

  /** Whether the database keeps up an index of this name by another definition. */
  isChanged(index: CompiledIndex): boolean {
    const stored = storedUnder(this.entry, index);
    return (
      stored !== undefined &&
      isMaintained(stored.state) &&
      !isSameIndex(stored, indexManifest(index))
    );
  }

  /** @throws {IndexChangedError} where the database keeps up an index of this name by another definition. */
  assertUnchanged(index: CompiledIndex): void {
    if (!this.isChanged(index)) return;
    const found = storedUnder(this.entry, index);
    const declared = found && storedIndex(index, found.state);
    const { earlier: _, ...stored } = found ?? {};
    throw new IndexChangedError(this.#model.name, index.name, stored, declared);
  }

  /** What makes a row that was written with this versionstamp one of the program's; undefined where it is one. */
  upgradeOf(versionstamp: string): UpgradeRow | undefined {
    if (!this.upgradesRows) return undefined;
    const { now, before } = this.#schemas;
    return before !== undefined && versionstamp < before.mark ? before.upgrade : now;
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
   * @throws {StaleSchemaError} where the database has something that this program would not keep up, or newer rows.
   * @throws {IndexChangedError} where it has an index by another definition.
   * @throws {SchemaNotMigratedError} where it has older rows, which the program cannot write beside.
   */
  assertWritable(): void {
    const { fence, differences } = this.#schemas;
    const { name } = this.#model;
    if (this.#unknown.length > 0) throw new StaleSchemaError(name, this.#unknown);
    if (this.#changed !== undefined) this.assertUnchanged(this.#changed);
    if (fence === "stale") throw new StaleSchemaError(name, differences);
    if (fence === "not-migrated") throw new SchemaNotMigratedError(name, differences);
  }
}

/** What a catalog entry says is kept up, and a program's model does not have, a sentence each. */
function unknownTo(
  model: CompiledModel,
  entry: CatalogEntry,
  ownRelations: readonly string[],
): string[] {
  const { indexes, counters = {}, relations = [] } = entry;
  const known = new Set(model.indexes.map((index) => index.name));
  const unknown = Object.entries(indexes)
    .filter(([name, index]) => !known.has(name) && isMaintained(index.state))
    .map(([name]) => `the index ${name}`);
  const counted = new Set(declaredCounters(model));
  for (const [name, state] of Object.entries(counters)) {
    if (counted.has(name) || !isMaintained(state)) continue;
    unknown.push(name === rowCounter ? "the count of all rows" : `the count of ${name}`);
  }
  for (const text of relations) {
    if (!ownRelations.includes(text)) unknown.push(`the relation ${text}`);
  }
  return unknown.map(
    (what) =>
      `${what} is in the database only: run migrate to drop it, or deploy the program that has it`,
  );
}

function counterSet(model: CompiledModel, names: readonly string[]): CounterSet | undefined {
  if (names.length === 0) return undefined;
  const indexes = model.indexes.filter((index) => names.includes(index.name));
  return { rows: names.includes(rowCounter), indexes: new Set(indexes) };
}

function stateIn(entry: CatalogEntry, index: CompiledIndex): IndexState {
  const stored = storedUnder(entry, index);
  if (stored === undefined) return "absent";
  if (isSameIndex(stored, indexManifest(index))) return stored.state;
  return stored.state === "dropping" ? "dropping" : "absent";
}

function storedUnder(entry: CatalogEntry, index: CompiledIndex) {
  return Object.hasOwn(entry.indexes, index.name) ? entry.indexes[index.name] : undefined;
}
