import type { CompiledIndex, CompiledModel } from "../compiled-model.js";
import type { CopiedFields, OnDelete, Relation } from "./relation-definition.js";

/** A relation with the models that it leads to, and the index that finds their rows. */
export interface LinkedRelation {
  readonly name: string;
  readonly relation: Relation;
  readonly target: CompiledModel;
  /**
   * The index that the relation uses. Undefined if a primary key begins with the fields instead.
   *
   * - `belongsTo`: the index of this model that begins with the fields of the relation.
   * - `hasMany`, `hasOne`: the index of the target that begins with these fields.
   * - `manyToMany`: the index of `through` that begins with `from`.
   */
  readonly index: CompiledIndex | undefined;
  /** The model between the two. Only for `manyToMany`. */
  readonly through: CompiledModel | undefined;
}

/** A `belongsTo` relation whose rows refer to rows of this model. */
export interface Reference {
  readonly model: CompiledModel;
  readonly relation: string;
  readonly fields: readonly string[];
  readonly onDelete: OnDelete;
  readonly copy: CopiedFields;
  /** The index of `model` that begins with the fields. Undefined if its primary key does. */
  readonly index: CompiledIndex | undefined;
  /** True to search only rows that are marked as deleted, which other indexes leave out. */
  readonly ofMarked?: boolean;
}

/** A model's relations with their target models, and the references to the model. */
export interface LinkedRelations {
  readonly relations: ReadonlyMap<string, LinkedRelation>;
  readonly referencedBy: readonly Reference[];
  /** Those references whose rows copy fields of this model. */
  readonly copiedBy: readonly Reference[];
}
