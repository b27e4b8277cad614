import { type Alternatives, textOf } from "./alternatives.js";

/** A type that needs a name because it contains itself. */
export interface NamedType {
  readonly name: string;
  readonly type: Alternatives;
}

/** Assigns distinct names to the types that are declared next to a row. */
export class TypeNames {
  readonly #declared: NamedType[] = [];
  readonly #taken: Set<string>;

  constructor(taken: Iterable<string>) {
    this.#taken = new Set(taken);
  }

  get declared(): readonly NamedType[] {
    return this.#declared;
  }

  /** Returns an unused name and reserves it: `UserTree`, or `UserTree2` if that is taken. */
  claim(base: string, suffix: string): string {
    let name = base + suffix;
    for (let number = 2; this.#taken.has(name); number++) name = `${base}${number}${suffix}`;
    this.#taken.add(name);
    return name;
  }

  /**
   * Declares a type under a name that {@link claim} returned.
   *
   * @param isShared true if the type may use the name of an equal type instead.
   * @returns the name of the type.
   */
  declare(name: string, type: Alternatives, isShared: boolean): string {
    const isEqual = (other: NamedType) =>
      textOf(other.type) === renamed(textOf(type), name, other.name);
    const equal = isShared ? this.#declared.find(isEqual) : undefined;
    if (equal === undefined) {
      this.#declared.push({ name, type });
      return name;
    }
    this.#taken.delete(name);
    return equal.name;
  }

  /** Returns the type with a name, or undefined while that type is still being written. */
  typeOf(name: string): Alternatives | undefined {
    return this.#declared.find((named) => named.name === name)?.type;
  }

  forget(count: number): ReadonlySet<string> {
    return new Set(this.#declared.splice(count).map(({ name }) => name));
  }
}

/** Replaces a name in the text of a type. Names within string literals are left unchanged. */
export function renamed(text: string, name: string, newName: string): string {
  return text.replace(/"(?:[^"\\]|\\.)*"|[\p{ID_Continue}$]+/gu, (token) =>
    token === name ? newName : token,
  );
}

/** The types of the ORM that a generated file imports if it uses them. */
export const ormTypes: readonly string[] = (
  "BatchOptions ComputedValue Condition CountOptions CreatedMany EqualsFilter FieldOperation " +
  "GroupOptions InFilter KeyValue ListOptions ListQuery ManyDeleteOptions ManyResult " +
  "ManyUpdateOptions Page PurgeResult ReadOptions RowQuery RowSearchOptions SearchExplanation SearchPage " +
  "ValueOptions Versioned"
).split(" ");

/** Those that only generated files use. */
export const codegenTypes: readonly string[] = (
  "ChangedRow ChangedRows ChangeOptions CheckedRelations IncludeOf NestedRow NestedRowChange NestedRows NestedRowsChange " +
  "RelatedConditions RelatedRow RelatedRows RowRankOptions SelectedFields Skipping WithDeleted " +
  "VersionOfRow VersionOptions WithRelations WithVersionstamp"
).split(" ");

/** The names that generated files import, declare or use, except those that come from models. */
export const reservedNames: ReadonlySet<string> = new Set([
  ...ormTypes,
  ...codegenTypes,
  ...(
    "at body consume consumeThrough data database ModelChange ChangeDelivery ChangeConsumeOptions AsyncIterableIterator RowChanges database kv limits models options snapshot tx view where z AnyDatabase Database DatabaseOptions " +
    "Kv Model Models Page Row Rows createDatabase openModels openRepositories repositoriesOf " +
    "rowsOf transaction TransactionRepositories ReadsOf readsOf SnapshotRepositories SnapshotView Parameters BetweenFilter HasFilter " +
    "StartsWithFilter OpenOptions OpenRepositories OpenModels AnyJobs Jobs JobsOf TransactionJobs TransactionDatabase jobsThrough withJobsOf within opened AbortSignal ReadableStream Repositories " +
    "ArrayBuffer BigInt64Array BigUint64Array Date Exclude Float32Array Float64Array Int16Array " +
    "Int32Array Int8Array Map NonNullable Omit Partial Promise Readonly ReadonlyMap ReadonlySet " +
    "Record RegExp Set URL Uint16Array Uint32Array Uint8Array Uint8ClampedArray"
  ).split(" "),
]);
