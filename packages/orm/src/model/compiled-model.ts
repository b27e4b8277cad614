import type { KeyOrder, KvKeyPart } from "@keywright/core";
import type * as z from "zod";
import type { TextIndexDefinition } from "../text/text-definition.js";
import type { Counter } from "./aggregates/counter.js";
import type { SummedField } from "./aggregates/summed-field.js";
import type { ConditionValue } from "./indexes/field-types.js";
import type { Normalizer } from "./indexes/normalizers.js";
import type { Timestamps } from "./options/timestamps.js";
import type { Relation } from "./relations/relation-definition.js";

export type AnyRow = Readonly<Record<string, unknown>>;

export interface CompiledPart {
  /** The name of the part in queries: its field, or the index if the part is computed. */
  readonly field: string;
  readonly descending: boolean;
  /**
   * The order that the part reverses if it is descending: the one of the specification, unless the
   * database has another order of numbers and bigints and the part can be either.
   */
  readonly descendingOrder: KeyOrder;
  readonly compute: ((row: AnyRow) => unknown) | undefined;
  /** Maps a value to the key part that is indexed. Undefined if the value itself is indexed. */
  readonly normalize: ((value: unknown) => KvKeyPart) | undefined;
  /** The names of the normalizers that `normalize` applies. Undefined if it is a function. */
  readonly normalizers: readonly Normalizer[] | undefined;
}

export interface CompiledIndex {
  readonly name: string;
  readonly prefix: string;
  /** The first part of the keys of its entries: the prefix, unless the catalog has another. */
  readonly place: string;
  readonly parts: readonly CompiledPart[];
  readonly fields: readonly string[];
  readonly unique: boolean;
  /** The position of the array with one entry per element. Undefined if there is none. */
  readonly each: number | undefined;
  /** Selects the rows in the index. Undefined if all rows with its fields are in it. */
  readonly where: ((row: AnyRow) => boolean) | undefined;
  /**
   * The values that `where` compares fields with, if it is data. Null selects the rows that lack
   * the field. Undefined if `where` is a function, or if there is none.
   */
  readonly condition: Readonly<Record<string, ConditionValue>> | undefined;
  /**
   * The fields that the functions of the index can read. Undefined if they can read every field.
   */
  readonly reads: readonly string[] | undefined;
  /**
   * The fields that determine which entries a row has: those of its key and of its `where`.
   * Undefined if these may be all fields, because a function reads them.
   */
  readonly keyFields: ReadonlySet<string> | undefined;
  /** The content of an entry: the primary key, the row, or the fields of `include`. */
  readonly store: "pointer" | "copy" | "include";
  /** The fields of an entry if `store` is `"include"`. Those of the primary key come first. */
  readonly include: readonly string[];
  /** The fields of `include` that the model declares, with or without those of the primary key. */
  readonly declaredInclude: readonly string[];
  /** The fields whose values the key of an entry holds as they are, with their positions in it. */
  readonly inKey: ReadonlyMap<string, number>;
  readonly counted: boolean;
  /** The fields whose sum is maintained for each of its keys. */
  readonly sums: readonly SummedField[];
  /** True for a ranked index. */
  readonly ranked: boolean;
  /** Field → the name of the index that has the rows of each of its keys in the field's order. */
  readonly extremes: ReadonlyMap<string, string>;
  /**
   * True if no `where` and no `orderBy` uses it: the model does not declare it, or it is a text
   * index.
   */
  readonly isHidden: boolean;
  /** The field that marks deleted rows, which are not in the index. Undefined if all rows are. */
  readonly unmarked: string | undefined;
  /** The version of its functions. Undefined if their source identifies them. */
  readonly version: string | undefined;
  /** The words that a full-text index contains. Undefined for any other index. */
  readonly text: TextIndexDefinition | undefined;
}

/** Where a field gets its value from. */
export interface CopiedField {
  readonly relation: string;
  /** The field of the row to which the relation leads. */
  readonly from: string;
}

export interface CompiledModel {
  readonly name: string;
  /** The first part of its records' keys, so that the model can be renamed. */
  readonly prefix: string;
  /** The first part of its rows' keys: the prefix, unless the catalog has another. */
  readonly place: string;
  readonly schema: z.ZodObject;
  readonly primaryKey: readonly string[];
  /** True if the primary key is a single `z.ulid()`. `create` generates it if it is absent. */
  readonly generatesId: boolean;
  readonly indexes: readonly CompiledIndex[];
  readonly relations: Readonly<Record<string, Relation>>;
  /** The functions of the fields that are computed from a row when it is returned. */
  readonly computed: ReadonlyMap<string, (row: AnyRow) => unknown>;
  /** Field → the relation to the row whose field it copies. */
  readonly copied: ReadonlyMap<string, CopiedField>;
  /** The fields of indexes that a row may lack. Such a row is not in the index. */
  readonly optionalFields: ReadonlySet<string>;
  /**
   * The other fields of indexes that must contain every row, each with the name of such an index. A
   * write without one of these fields is refused, because queries would miss the row.
   */
  readonly requiredFields: ReadonlyMap<string, string>;
  readonly counted: boolean;
  /** The fields whose sum over all rows is maintained. */
  readonly sums: readonly SummedField[];
  /** Field → the name of an index in the order of the field. */
  readonly extremes: ReadonlyMap<string, string>;
  /** The counters of all rows and of the keys of indexes. */
  readonly counters: readonly Counter[];
  /** The form of `createdAt` and `updatedAt`. Undefined if writes do not maintain them. */
  readonly timestamps: Timestamps | undefined;
  /** The field that marks deleted rows. Undefined if deleted rows are removed. */
  readonly softDelete: string | undefined;
  readonly live: boolean;
  readonly keyOrder: KeyOrder;
}

export const systemPrefix = "__keywright";
