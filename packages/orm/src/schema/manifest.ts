/** A JSON value that describes a field's values, as Zod's own `toJSONSchema` makes it. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A field of a model as data. */
export interface FieldManifest {
  /** What is stored in it: the schema's output. */
  readonly schema: JsonSchema;
  /** A row may be without it. */
  readonly optional: boolean;
  /** The schema fills it in where `create` is not given it. */
  readonly defaulted: boolean;
}

/** What the rows of a model are, as data. */
export interface RowManifest {
  /** Of all that follows: two programs with one hash write the same rows. */
  readonly hash: string;
  readonly primaryKey: readonly string[];
  readonly fields: Readonly<Record<string, FieldManifest>>;
  /**
   * Fields that are none any more, and that stored rows may still hold: only of what a database has, where it was accepted that
   * they go. The hash says nothing of them.
   */
  readonly left?: Readonly<Record<string, FieldManifest>>;
}

/** What an index may be beside its fields. */
export interface IndexTraits {
  /** The fields that are sorted from last to first. */
  readonly descending?: readonly string[];
  /** Of several fields, those whose values are normalized. */
  readonly normalized?: readonly string[];
  /** The field whose elements have an entry each. */
  readonly each?: string;
  /** It does not hold every row that has its fields. */
  readonly partial?: true;
  /** A part of its key is what a function makes of the row. */
  readonly computed?: true;
  /** What its entries hold, where that is no pointer: the row, or these fields. */
  readonly value?: "copy" | readonly string[];
}

/** An index as data. */
export interface IndexManifest {
  readonly prefix: string;
  readonly fields: readonly string[];
  readonly unique: boolean;
  /** Values of a field, or of several, are normalized. */
  readonly normalized: boolean;
  /** What else it is, where it is: what says nothing here is absent. */
  readonly traits?: IndexTraits;
  /** A hash of the source of its functions, or the version that the index states; absent where it has none. */
  readonly functions?: string;
}

/** A relation as data. */
export type RelationManifest = Readonly<Record<string, unknown>> & { readonly kind: string };

/** A model as data. */
export interface ModelManifest {
  readonly name: string;
  /** The first part of its rows' keys. */
  readonly prefix: string;
  /** Of all that is here. */
  readonly hash: string;
  readonly row: RowManifest;
  readonly indexes: Readonly<Record<string, IndexManifest>>;
  /** The names of its counters: `""` of all rows, else of an index. */
  readonly counters: readonly string[];
  readonly relations: Readonly<Record<string, RelationManifest>>;
  readonly live: boolean;
}

/** The models of a program as data: what `keywright.lock.json` holds. */
export interface SchemaManifest {
  readonly format: 1;
  /** By the model's own name. */
  readonly models: Readonly<Record<string, ModelManifest>>;
}
