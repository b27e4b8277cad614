export type { DroppedModel } from "./change/drop-models.js";
export type {
  MigrateOptions,
  MigrationOutcome,
  MigrationResult,
} from "./change/migrate.js";
export { migrate } from "./change/migrate.js";
export type {
  IndexStatus,
  MigrationStatus,
  ModelStatus,
  RunnerStatus,
  TransformStatus,
} from "./change/migration-status.js";
export { migrationStatus } from "./change/migration-status.js";
export { type ChangedRows, findChangedRows } from "./change/plan/changed-rows.js";
export { formatPlan } from "./change/plan/format-plan.js";
export type {
  DatabaseModel,
  LeftValues,
  MigrationPlan,
  ModelPlan,
  PlanWarning,
} from "./change/plan/migration-plan.js";
export { type PlanOptions, planMigration } from "./change/plan/plan-migration.js";
export { recordSameFunctions } from "./change/same-functions.js";
export type {
  FailedRow,
  FailedRowsOptions,
  FailedRowsPage,
} from "./change/transform/failed-rows.js";
export { findFailedRows } from "./change/transform/failed-rows.js";
export {
  type PreviewedDuplicates,
  previewDuplicates,
} from "./change/transform/preview-duplicates.js";
export type { PreviewedRow, PreviewOptions } from "./change/transform/preview-transform.js";
export { previewMigration } from "./change/transform/preview-transform.js";
export type {
  DanglingReference,
  DanglingReferencesOptions,
  DanglingReferencesPage,
} from "./change/verify/dangling-references.js";
export { findDanglingReferences } from "./change/verify/dangling-references.js";
export {
  type VerifyOptions,
  type VerifyResult,
  verifyIndexes,
} from "./change/verify/verify-indexes.js";
export type { CheckedCopies } from "./derived/copies/copies-verifier.js";
export type { CheckedCounters } from "./derived/counters/counters-verifier.js";
export type { CounterStatus } from "./derived/counters/counting-state.js";
export type {
  DuplicatesPage,
  DuplicatesQuery,
  DuplicateValue,
} from "./derived/entries/duplicates/list-duplicates.js";
export { findDuplicates } from "./derived/entries/duplicates/list-duplicates.js";
export type { MigratedIndex } from "./derived/entries/fill/finish-index.js";
export type { EntryFinding, FindingCounts } from "./derived/entries/verify/inspect-entry.js";
export type { OutdatedCopy, WrongCounter } from "./derived/verify/verification.js";
export type { VerifiedEntries, VerifiedModel } from "./derived/verify-derived.js";
export type { Duplicate, UnindexedRow, UnindexedRows } from "./state/catalog/backfill-state.js";
export type { IndexState } from "./state/catalog/catalog-entry.js";
export type { AnyDatabase } from "./state/context/any-database.js";
export type { MigrationPhase, MigrationProgress, RunOptions } from "./state/run/migration-run.js";
export type { MigrationStep, StepKind } from "./state/run/migration-step.js";
export type { RowChange, StepClass } from "./state/schema/upgrade/compare-rows.js";
