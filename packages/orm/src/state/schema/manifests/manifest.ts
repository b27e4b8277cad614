import type { ConditionValue } from "../../../model/indexes/field-types.js";

/** A JSON Schema that describes the values of a field. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A field of a model as data. */
export interface FieldManifest {
  /** Describes the stored values: the output of the field's schema. */
  readonly schema: JsonSchema;
  /** True if a row may lack the field. */
  readonly optional: boolean;
  /** True if the schema fills the field in when `create` gets no value for it. */
  readonly defaulted: boolean;
}

/** The rows of a model as data. */
export interface RowManifest {
  /** A hash of primary key and fields. Programs with the same hash write the same rows. */
  readonly hash: string;
  readonly primaryKey: readonly string[];
  readonly fields: Readonly<Record<string, FieldManifest>>;
  /**
   * Fields that the model no longer has and that stored rows may still hold. Only the manifest in a
   * database has them, after their removal was accepted. The hash does not include them.
   */
  readonly left?: Readonly<Record<string, FieldManifest>>;
  /**
   * Hashes of the functions of the fields' schemas, as `schemaFunctions` returns them. Only the
   * manifest in a database has them. The hash does not include them.
   */
  readonly functions?: Readonly<Record<string, string>>;
}

/** The options of an index. Those that do not apply are absent. */
export interface IndexTraits {
  /** The fields that are sorted in descending order. */
  readonly descending?: readonly string[];
  /** Set if these can be numbers and bigints, in a database in which bigints sort first. */
  readonly descendingOrder?: "deno";
  /** In an index of several fields: the fields whose values are normalized. */
  readonly normalized?: readonly string[];
  /** The names of normalizers, by the fields whose values they are applied to in this order. */
  readonly normalizers?: Readonly<Record<string, readonly string[]>>;
  /** The field whose elements have one entry each. */
  readonly each?: string;
  /** The values of fields that select its rows. Null selects rows that lack the field. */
  readonly where?: Readonly<Record<string, ConditionValue>>;
  /** Set if a function of the index selects its rows. */
  readonly partial?: true;
  /** The field that marks deleted rows, which are not in the index. */
  readonly unmarked?: string;
  /** Set if a part of its key is computed by a function of the row. */
  readonly computed?: true;
  /** What a full-text index contains. */
  readonly text?: TextTraits;
  /** The content of its entries if they are not pointers: the whole row (`"copy"`), or fields. */
  readonly value?: "copy" | readonly string[];
}

/** The words that a full-text index contains. Weights are not stored: they only order results. */
export interface TextTraits {
  readonly fields: readonly string[];
  /** The version of the rules by which texts become words. */
  readonly version: string;
  readonly language?: string;
  readonly foldsMarks: boolean;
  readonly stopWords?: readonly string[];
}

/**
 * The functions of an index as texts that do not depend on how a build prints them: see
 * `canonicalSource`.
 */
export interface IndexCode {
  readonly where?: string;
  /** The function that computes a part of the key. */
  readonly key?: string;
  /** The functions that normalize, by field. */
  readonly normalize?: Readonly<Record<string, string>>;
}

/** The functions of an index, in one of the forms that builds give them. */
export interface IndexFunctions {
  readonly functions?: string;
  readonly code?: IndexCode;
}

/** An index as data. */
export interface IndexManifest {
  readonly prefix: string;
  readonly fields: readonly string[];
  readonly unique: boolean;
  /** True if the values of at least one field are normalized. */
  readonly normalized: boolean;
  /** Absent if no trait applies. */
  readonly traits?: IndexTraits;
  /** The version that the index states, or a hash of its functions. Absent if it has none. */
  readonly functions?: string;
  /** Absent if it states a version or has no functions, and in definitions of earlier releases. */
  readonly code?: IndexCode;
  /** Other functions that a user has declared to return the same as these. */
  readonly sameFunctions?: readonly IndexFunctions[];
}

/** A relation as data. */
export type RelationManifest = Readonly<Record<string, unknown>> & { readonly kind: string };

/** A model as data. */
export interface ModelManifest {
  readonly name: string;
  /** The first part of the keys of its rows. */
  readonly prefix: string;
  /** A hash of all other properties. */
  readonly hash: string;
  readonly row: RowManifest;
  readonly indexes: Readonly<Record<string, IndexManifest>>;
  /** Its counters: `""` for the counter of all rows, and the names of counted indexes. */
  readonly counters: readonly string[];
  readonly relations: Readonly<Record<string, RelationManifest>>;
  readonly live: boolean;
}

/** The models of a program as data, as stored in `keywright.lock.json`. */
export interface SchemaManifest {
  readonly format: 1;
  readonly models: Readonly<Record<string, ModelManifest>>;
}
