export type { Duplicate, UnindexedRow, UnindexedRows } from "./catalog/backfill-state.js";
export type { IndexState } from "./catalog/catalog-entry.js";
export type { AnyDatabase } from "./context/any-database.js";
export type { CheckedCopies, OutdatedCopy } from "./derived/copies/check-copies.js";
export type { CheckedCounters, WrongCounter } from "./derived/counters/check-counters.js";
export type { CounterStatus } from "./derived/counters/counting-state.js";
export type {
  DuplicatesPage,
  DuplicatesQuery,
  DuplicateValue,
} from "./derived/entries/duplicates/list-duplicates.js";
export { findDuplicates } from "./derived/entries/duplicates/list-duplicates.js";
export type { MigratedIndex } from "./derived/entries/fill/finish-index.js";
export type { VerifiedEntries } from "./derived/entries/verify/verify-model.js";
export type { EntryFinding, FindingCounts } from "./derived/entries/verify/verify-state.js";
export type { DroppedModel } from "./migrate/drop-models.js";
export type {
  MigrateOptions,
  MigrationOutcome,
  MigrationResult,
} from "./migrate/migrate.js";
export { migrate } from "./migrate/migrate.js";
export type {
  IndexStatus,
  MigrationStatus,
  ModelStatus,
  RunnerStatus,
  TransformStatus,
} from "./migrate/migration-status.js";
export { migrationStatus } from "./migrate/migration-status.js";
export { type ChangedRows, findChangedRows } from "./migrate/plan/changed-rows.js";
export { formatPlan } from "./migrate/plan/format-plan.js";
export type {
  DatabaseModel,
  LeftValues,
  MigrationPlan,
  MigrationStep,
  ModelPlan,
  PlanWarning,
  StepKind,
} from "./migrate/plan/migration-plan.js";
export { type PlanOptions, planMigration } from "./migrate/plan/plan-migration.js";
export { recordSameFunctions } from "./migrate/plan/same-functions.js";
export type {
  FailedRow,
  FailedRowsOptions,
  FailedRowsPage,
} from "./migrate/transform/failed-rows.js";
export { findFailedRows } from "./migrate/transform/failed-rows.js";
export {
  type PreviewedDuplicates,
  previewDuplicates,
} from "./migrate/transform/preview-duplicates.js";
export type { PreviewedRow, PreviewOptions } from "./migrate/transform/preview-transform.js";
export { previewMigration } from "./migrate/transform/preview-transform.js";
export type {
  DanglingReference,
  DanglingReferencesOptions,
  DanglingReferencesPage,
} from "./migrate/verify/dangling-references.js";
export { findDanglingReferences } from "./migrate/verify/dangling-references.js";
export {
  type VerifiedModel,
  type VerifyOptions,
  type VerifyResult,
  verifyIndexes,
} from "./migrate/verify/verify-indexes.js";
export type { MigrationPhase, MigrationProgress, RunOptions } from "./run/migration-run.js";
export type { RowChange, StepClass } from "./schema/upgrade/compare-rows.js";
