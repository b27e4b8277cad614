/** A part of a key: `Uint8Array`, string, number, bigint or boolean. */
export type KeyPart = Uint8Array | string | number | bigint | boolean;

/** The description of the database, which the page reads first. */
export interface StudioInfo {
  /** The name of the project, or the URL or folder of the database. */
  readonly title: string;
  readonly isReadOnly: boolean;
  /** True if the database reports changes, so that the page can mark changed rows. */
  readonly isLive: boolean;
  /** True if the database keeps a log of its commits. */
  readonly hasLog: boolean;
  /** Sorted by name. None for a database without models, or if damage hides what it has. */
  readonly models: readonly ModelInfo[];
  readonly damage: KnownDamage | null;
}

/** Damage of the files of the database, as far as it is known without reading them. */
export interface KnownDamage {
  /** The folder of the database, or null if it is not known. */
  readonly path: string | null;
  /** As a clause: `its file 000005.ldb, from byte 331303 on: …`. */
  readonly reason: string;
  /** True if the database was opened nevertheless. Otherwise all calls fail. */
  readonly isReadable: boolean;
}

export interface ModelInfo {
  /** The name in the program: `db.users`. */
  readonly property: string;
  /** The name in the database, which errors and migrations use. */
  readonly name: string;
  /** The first part of the keys of its rows. */
  readonly prefix: string;
  readonly primaryKey: readonly string[];
  readonly fields: readonly FieldInfo[];
  readonly indexes: readonly IndexInfo[];
  readonly relations: readonly RelationInfo[];
  /** The field that marks deleted rows, or null. */
  readonly softDelete: string | null;
  /**
   * The field that tells people which row it is, such as `name` or `title`. Null if there is none.
   */
  readonly titleField: string | null;
}

/** How a value is shown and edited. `data` is anything else, edited as JSON. */
export type FieldKind =
  | "string"
  | "number"
  | "bigint"
  | "boolean"
  | "date"
  | "bytes"
  | "choice"
  | "data";

export interface FieldInfo {
  readonly name: string;
  readonly kind: FieldKind;
  /** For people: `string`, `"draft" | "live"`, `{ longitude: number }`. */
  readonly type: string;
  /** True if a row may lack the field. */
  readonly isOptional: boolean;
  readonly isNullable: boolean;
  /** True if `create` fills it in. */
  readonly hasDefault: boolean;
  /** The field of a related row that it copies: `author.name`. Data cannot contain it. */
  readonly copied: string | null;
  readonly choices: readonly (string | number)[];
  readonly description: string | null;
}

export interface IndexInfo {
  readonly name: string;
  readonly fields: readonly { readonly name: string; readonly isDescending: boolean }[];
  readonly isUnique: boolean;
  /** The array field whose elements have one entry each, or null. */
  readonly each: string | null;
  /** The rows that it has, for people: `deletedAt is absent`. Null if it has all rows. */
  readonly condition: string | null;
  /** The conditions that select it and that a query has to repeat. */
  readonly where: Readonly<Record<string, unknown>> | null;
  /**
   * False if it serves no list of rows: a part of its key is computed, so that nothing stands for
   * its values, or it is a full-text index.
   */
  readonly isQueryable: boolean;
  /** The fields whose words a full-text index contains. Null for any other index. */
  readonly text: readonly string[] | null;
  readonly isCounted: boolean;
  /** `readable`, `write-only`, …, or `unknown` if the database is damaged. */
  readonly state: string;
}

export interface RelationInfo {
  readonly name: string;
  readonly kind: "belongsTo" | "hasOne" | "hasMany" | "manyToMany";
  /** The `property` of the model that it leads to. */
  readonly target: string;
  /** For `belongsTo` fields of this model, for `hasOne` and `hasMany` those of the target. */
  readonly fields: readonly string[];
  /** For `manyToMany`: the rows between, and their fields. */
  readonly through: {
    readonly model: string;
    readonly from: readonly string[];
    readonly to: readonly string[];
  } | null;
  readonly onDelete: "restrict" | "cascade" | "setNull" | null;
}
