import type { CompiledIndex, CompiledModel } from "./compiled-model.js";
import type { OnDelete, Relation } from "./relation-definition.js";

/** A relation with the models that it leads to, and the index by which their rows are found. */
export interface LinkedRelation {
  readonly name: string;
  readonly relation: Relation;
  readonly target: CompiledModel;
  /**
   * Of `belongsTo`: the index of the model itself that begins with the relation's fields. Of `hasMany` and `hasOne`: that of
   * the target. Of `manyToMany`: that of `through`, which begins with `from`. Undefined for a primary key that does.
   */
  readonly index: CompiledIndex | undefined;
  /** Of `manyToMany`: the model between. */
  readonly through: CompiledModel | undefined;
}

/** A relation of another model, or of the same, by which its rows refer to this model's. */
export interface Reference {
  readonly model: CompiledModel;
  readonly relation: string;
  readonly fields: readonly string[];
  readonly onDelete: OnDelete;
  /** The index of `model` that begins with the fields; undefined for its primary key. */
  readonly index: CompiledIndex | undefined;
}

/** A model's relations, laid out with the other models of the database. */
export interface LinkedRelations {
  readonly relations: ReadonlyMap<string, LinkedRelation>;
  readonly referencedBy: readonly Reference[];
}
