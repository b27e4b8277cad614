export type { CheckedModels } from "./database/checked-models.js";
export { openModels } from "./database/database.js";
export type { RowRankOptions, Skipping, WithDeleted } from "./database/generated/list-options.js";
export type {
  NestedRow,
  NestedRowChange,
  NestedRows,
  NestedRowsChange,
} from "./database/generated/nested-data-types.js";
export type {
  CheckedRelations,
  IncludeOf,
  RelatedConditions,
  RelatedRow,
  RelatedRows,
} from "./database/generated/related-types.js";
export { type Rows, repositoriesWithin, rowsOf } from "./database/generated/rows.js";
export type {
  SelectedFields,
  WithRelations,
  WithVersionstamp,
} from "./database/generated/shape-types.js";
export { indexKeys } from "./indexes/index-entries.js";
export { type UndoableMigration, undoableMigrations } from "./migrate/plan/undoable-migrations.js";
export { assertDistinctPrefixes, compileModel } from "./model/compile-model.js";
export type { CompiledIndex, CompiledModel } from "./model/compiled-model.js";
export { isModel } from "./model/define-model.js";
export { linkRelations } from "./relations/link-relations.js";
export type {
  FieldManifest,
  IndexManifest,
  IndexTraits,
  JsonSchema,
  ModelManifest,
  RelationManifest,
  RowManifest,
  SchemaManifest,
} from "./schema/manifests/manifest.js";
export { modelManifest, schemaManifest } from "./schema/manifests/model-manifest.js";
export { rowManifest } from "./schema/manifests/row-manifest.js";
export { compareRows } from "./schema/upgrade/compare-rows.js";
export { type RenamedField, renamedField } from "./schema/upgrade/renamed-field.js";
