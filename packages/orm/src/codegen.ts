export { type UndoableMigration, undoableMigrations } from "./change/plan/undoable-migrations.js";
export type { CheckedModels } from "./database/checked-models.js";
export { openModels } from "./database/create-database.js";
export { jobsThrough, withJobsOf } from "./database/generated/generated-jobs.js";
export {
  type ChangeConsumeOptions,
  type ChangeDelivery,
  type ChangedRow,
  type ChangedRows,
  type ChangeOptions,
  consumeThrough,
  type ModelChange,
  type VersionOfRow,
  type VersionOptions,
} from "./database/generated/logged-types.js";
export { type ReadsOf, readsOf } from "./database/generated/reads-of.js";
export { type Rows, repositoriesWithin, rowsOf } from "./database/generated/rows.js";
export { openStoredJobs } from "./database/open-stored-jobs.js";
export type {
  NestedRow,
  NestedRowChange,
  NestedRows,
  NestedRowsChange,
} from "./database/repository/options/nested-operations.js";
export type {
  RowRankOptions,
  Skipping,
  WithDeleted,
} from "./database/repository/options/read-options.js";
export type {
  CheckedRelations,
  IncludeOf,
  RelatedConditions,
  RelatedRow,
  RelatedRows,
} from "./database/repository/results/related-types.js";
export type {
  SelectedFields,
  WithRelations,
  WithVersionstamp,
} from "./database/repository/results/shape-types.js";
export { nearestName } from "./errors/nearest-name.js";
export { assertDistinctPrefixes, compileModel } from "./model/compile-model.js";
export type { CompiledIndex, CompiledModel } from "./model/compiled-model.js";
export { isModel } from "./model/define-model.js";
export { indexKeys } from "./model/keys/index-entries.js";
export { linkRelations } from "./state/references/link-relations.js";
export type {
  FieldManifest,
  IndexManifest,
  IndexTraits,
  JsonSchema,
  ModelManifest,
  RelationManifest,
  RowManifest,
  SchemaManifest,
} from "./state/schema/manifests/manifest.js";
export { modelManifest, schemaManifest } from "./state/schema/manifests/model-manifest.js";
export { rowManifest } from "./state/schema/manifests/row-manifest.js";
export { compareRows } from "./state/schema/upgrade/compare-rows.js";
export { type RenamedField, renamedField } from "./state/schema/upgrade/renamed-field.js";
