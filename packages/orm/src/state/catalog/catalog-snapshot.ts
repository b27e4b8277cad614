import type { AtomicCheck } from "@keywright/core";
import { SchemaNotMigratedError } from "../../errors/migration-errors.js";
import {
  IndexChangedError,
  PrimaryKeyDiffersError,
  StaleSchemaError,
} from "../../errors/schema-errors.js";
import { type CounterName, rowCounter } from "../../model/aggregates/counter-name.js";
import type { CompiledIndex, CompiledModel } from "../../model/compiled-model.js";
import { mayUse } from "../../model/relations/copied-fields.js";
import { indexDifferences } from "../schema/manifests/index-differences.js";
import { differsInCode, indexManifest, isSameIndex } from "../schema/manifests/index-manifest.js";
import { unfilledCopies } from "../schema/manifests/model-manifest.js";
import {
  type CatalogEntry,
  catalogKey,
  definitionOf,
  type IndexState,
  isDroppedUnique,
  isMaintained,
  nextOf,
  storedIndex,
  storedIndexOf,
} from "./catalog-entry.js";
import { withLearned } from "./learned-definitions.js";
import { type OtherLayout, otherLayoutOf } from "./other-layout.js";
import type { RowSchemas, UpgradeRow } from "./row-schemas.js";
import { countersIn } from "./stored-counters.js";
import { leavingIndexes, withCode } from "./stored-indexes.js";

let created = 0;

/** The number of the snapshot that was taken last, of any model and database. */
export function lastSnapshotNumber(): number {
  return created;
}

/**
 * A model's catalog entry as it was at one time. A change that is planned by a snapshot is
 * committed under the check of the same snapshot. If the catalog has changed since, the commit
 * fails.
 */
export class CatalogSnapshot {
  /** Larger than those of all snapshots that were taken before. */
  readonly number: number = ++created;
  readonly entry: CatalogEntry;
  /**
   * The check that the catalog entry has not changed, for every commit that writes a row. Its
   * versionstamp is null if the database does not have the entry, because it is read-only.
   */
  readonly check: AtomicCheck;
  /** The indexes of the rows that every write maintains. */
  readonly maintained: readonly CompiledIndex[];
  /**
   * The model for planning reads. In addition to the indexes of the program, it has the definitions
   * that the database still has of indexes that the program has changed.
   */
  readonly readModel: CompiledModel;
  /**
   * The rows by another primary key, with the indexes that every write maintains. Undefined if the
   * primary key does not change.
   */
  readonly other: OtherLayout | undefined;
  /** True if rows of an earlier schema are converted to the program's when they are read. */
  readonly upgradesRows: boolean;
  /** True if this program may write. If not, {@link assertWritable} throws the reason. */
  readonly isWritable: boolean;
  /** True if the program's schema must be recorded first: see `ModelCatalog.makeKnown`. */
  readonly needsRegistration: boolean;
  /** True if the code of functions is to be recorded first: see `withCode`. */
  readonly lacksCode: boolean;
  /** True if a unique index is `"unique-pending"`. */
  readonly hasPendingIndex: boolean;
  /**
   * The model for planning writes. In addition to the indexes and counters of the program, it has
   * those that only the database has and that are data.
   */
  readonly writeModel: CompiledModel;
  /** True if the database stores the rows by the primary key of the program's model. */
  readonly hasSameKey: boolean;
  readonly #model: CompiledModel;
  /** Describes what other programs have changed since, so that this program may not write. */
  readonly #unknown: readonly string[];
  /** The first index that the database maintains by another definition. */
  readonly #changed: CompiledIndex | undefined;
  readonly #schemas: RowSchemas;
  readonly #states = new Map<CompiledIndex, IndexState>();
  readonly #counterStates: ReadonlyMap<string, IndexState>;
  /** The indexes of {@link readModel} that queries can use: see {@link canRead}. */
  readonly #readable: ReadonlySet<CompiledIndex>;
  /** The copied fields that some rows do not have yet. */
  readonly #unfilled: ReadonlySet<string>;
  /** The indexes that the database has under another name, where they are readable. */
  readonly #renamed: ReadonlySet<CompiledIndex>;

  constructor(
    model: CompiledModel,
    entry: CatalogEntry,
    versionstamp: string | null,
    schemas: RowSchemas,
    readModel: CompiledModel = model,
  ) {
    this.entry = entry;
    this.readModel = readModel;
    this.#schemas = schemas;
    const renamed = new Set<CompiledIndex>();
    for (const index of readModel.indexes) {
      const known = definitionOf(entry, index);
      this.#states.set(index, stateIn(entry, index, known));
      if (known?.as === "renamed" && known.stored.state === "readable") renamed.add(index);
    }
    this.#renamed = renamed;
    this.#unfilled = new Set(unfilledCopies(schemas.relations, entry).map(({ field }) => field));
    this.hasSameKey = schemas.otherKey === undefined;
    this.#readable = new Set(readModel.indexes.filter((index) => this.#isReadable(index)));
    this.upgradesRows =
      schemas.now !== undefined || schemas.before.some(({ upgrade }) => upgrade !== undefined);
    this.check = { key: catalogKey(model), versionstamp };
    this.#model = model;
    const other = otherLayoutOf(model, entry);
    const writeModel = withLearned(model, entry, schemas.fields);
    this.writeModel = writeModel;
    const indexes = [
      ...readModel.indexes,
      ...writeModel.indexes.slice(model.indexes.length),
      ...leavingIndexes(writeModel, entry),
      ...(other === undefined ? [] : [other.keyIndex]),
    ];
    const isWritten = (index: CompiledIndex) => isMaintained(this.stateOf(index));
    this.maintained = indexes.filter(isWritten);
    this.other = other;
    this.#counterStates = counterStates(writeModel, entry);
    this.needsRegistration = !schemas.isKnown;
    this.#unknown = unknownTo(writeModel, entry, schemas.relations);
    this.#changed = model.indexes.find((index) => this.isChanged(index));
    this.isWritable =
      this.#unknown.length === 0 && this.#changed === undefined && schemas.fence === "open";
    this.lacksCode = withCode(model, entry) !== entry;
    this.hasPendingIndex = indexes.some((index) => this.stateOf(index) === "unique-pending");
  }

  /**
   * Returns the state of an index. If the database has another definition of the index, the state
   * is `"dropping"` while the entries of that one are removed, otherwise `"absent"`.
   */
  stateOf(index: CompiledIndex): IndexState {
    return this.#states.get(index) ?? stateIn(this.entry, index);
  }

  /** True if queries can use an index: it is complete, and its entries match the rows as read. */
  canRead(index: CompiledIndex): boolean {
    return this.#readable.has(index) || (!this.#states.has(index) && this.#isReadable(index));
  }

  #isReadable(index: CompiledIndex): boolean {
    if (!this.hasSameKey) return false;
    const isReadable = this.stateOf(index) === "readable" || this.#renamed.has(index);
    return isReadable && !this.isOutdated(index);
  }

  /**
   * True if the entries of an index match the stored rows, but not the rows that readers get: these
   * are upgraded to the program's schema, and their copied fields are filled.
   */
  isOutdated(index: CompiledIndex): boolean {
    for (const field of this.#unfilled) if (mayUse(index, field)) return true;
    return this.#schemas.outdated.length > 0 && this.#schemas.outdated.includes(index);
  }

  /** True if a field may have other values in the rows as stored than as upgraded on reading. */
  mayDiffer(field: string): boolean {
    return this.#schemas.changedFields.has(field) || this.#unfilled.has(field);
  }

  /**
   * True if a transform is under way in which rows may take unique keys of an index from rows that
   * it has not reached yet. Until these are written, they may lack their entries.
   */
  isExchanging(index: CompiledIndex): boolean {
    return this.#schemas.exchanging.length > 0 && this.#schemas.exchanging.includes(index);
  }

  /** True if the database has another definition of an index and does not build this one yet. */
  isChanged(index: CompiledIndex): boolean {
    const stored = storedIndexOf(this.entry, index.name);
    if (stored === undefined || !isMaintained(stored.state)) return false;
    const as = definitionOf(this.entry, index)?.as;
    return as !== "current" && as !== "next";
  }

  assertUnchanged(index: CompiledIndex): void {
    if (!this.isChanged(index)) return;
    const found = storedIndexOf(this.entry, index.name);
    const declared = found && storedIndex(index, found.state);
    const { earlier: _, ...stored } = found ?? {};
    const now = indexManifest(index);
    throw new IndexChangedError(
      this.#model.name,
      index.name,
      stored,
      declared,
      found === undefined ? [] : indexDifferences(found, now),
      found !== undefined && differsInCode(found, now),
    );
  }

  /** Returns the function that upgrades a row with this versionstamp, if it needs one. */
  upgradeOf(versionstamp: string): UpgradeRow | undefined {
    if (!this.upgradesRows) return undefined;
    const { now, before } = this.#schemas;
    const earlier = before.find(({ mark }) => versionstamp < mark);
    return earlier === undefined ? now : earlier.upgrade;
  }

  /**
   * Returns the state of a counter by its name. If the database has another definition of the
   * index, the counter counts other groups, so for this program it is absent.
   */
  counterState(name: string): IndexState {
    return this.#counterStates.get(name) ?? "absent";
  }

  /** The primary key by which the database stores the rows. */
  get storedKey(): readonly string[] {
    return this.#schemas.otherKey ?? this.#model.primaryKey;
  }

  assertSameKey(): void {
    const { otherKey } = this.#schemas;
    const { name, primaryKey } = this.#model;
    if (otherKey !== undefined) throw new PrimaryKeyDiffersError(name, otherKey, primaryKey);
  }

  assertWritable(): void {
    if (this.isWritable && this.hasSameKey) return;
    const { fence, differences } = this.#schemas;
    const { name } = this.#model;
    this.assertSameKey();
    if (this.#unknown.length > 0) throw new StaleSchemaError(name, this.#unknown);
    if (this.#changed !== undefined) this.assertUnchanged(this.#changed);
    if (fence === "stale") throw new StaleSchemaError(name, differences);
    if (fence === "not-migrated") throw new SchemaNotMigratedError(name, differences);
  }
}

/**
 * Describes each index, counter and relation of the catalog entry that the model lacks, and each
 * unique index of the model that the database no longer has.
 */
function unknownTo(
  model: CompiledModel,
  entry: CatalogEntry,
  programRelations: readonly string[],
): string[] {
  const { indexes, relations = [] } = entry;
  const known = new Set(model.indexes.map((index) => index.name));
  const unknown = Object.entries(indexes)
    .filter(([name, { state, isOther }]) => !known.has(name) && !isOther && isMaintained(state))
    .map(([name]) => `the index ${name}`);
  for (const [name, stored] of Object.entries(indexes)) {
    const declared = model.indexes.find((index) => index.name === name);
    if (stored.next === undefined || !isMaintained(stored.next.state)) continue;
    if (declared === undefined || nextOf(stored, declared) === undefined)
      unknown.push(`the new definition of the index ${name}`);
  }
  const counted = new Set(model.counters.map(({ name }) => name));
  for (const counter of countersIn(entry)) {
    if (!counted.has(counter.name) && isMaintained(counter.state))
      unknown.push(counterText(counter));
  }
  for (const text of relations) {
    if (!programRelations.includes(text)) unknown.push(`the relation ${text}`);
  }
  const dropped = model.indexes.filter((index) => isDroppedUnique(entry, index));
  return [
    ...unknown.map((missing) => `${missing} is in the database only`),
    ...dropped.map(
      ({ name }) => `the unique index ${name} was changed or dropped by another program`,
    ),
  ];
}

function counterText({ name, index, suffix, isRanked }: CounterName): string {
  if (name === rowCounter) return "the count of all rows";
  if (suffix === "") return `the count of ${name}`;
  if (isRanked) return `the ranks of ${index}`;
  return index === undefined ? `the ${suffix} of all rows` : `the ${suffix} of ${index}`;
}

function counterStates(model: CompiledModel, entry: CatalogEntry): Map<string, IndexState> {
  const states = new Map<string, IndexState>();
  for (const { name, index: indexName = "", state } of countersIn(entry)) {
    const stored = storedIndexOf(entry, indexName);
    const index = model.indexes.find((one) => one.name === indexName);
    const isOther = stored && index && !isSameIndex(stored, indexManifest(index));
    states.set(name, isOther ? "absent" : state);
  }
  return states;
}

function stateIn(
  entry: CatalogEntry,
  index: CompiledIndex,
  known = definitionOf(entry, index),
): IndexState {
  // While a replaced definition is readable, reads that began before may end.
  if (known !== undefined && known.as !== "renamed") return known.stored.state;
  return storedIndexOf(entry, index.name)?.state === "dropping" ? "dropping" : "absent";
}
