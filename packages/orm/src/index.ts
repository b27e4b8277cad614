export { isKeywrightError, KeywrightError, type Progress } from "@keywright/core";

export type { Duplicate, UnindexedRow, UnindexedRows } from "./catalog/backfill-state.js";
export type { CatalogEntry, IndexState, StoredIndex } from "./catalog/catalog-entry.js";
export type { AnyDatabase } from "./context/any-database.js";
export type { Direction } from "./context/any-query.js";
export type { DatabaseCall, Middleware } from "./context/database-call.js";
export type { QueryEvent } from "./context/database-settings.js";
export type { Page, PageOptions } from "./context/page.js";
export type { ExplainedRelation } from "./context/related-filters.js";
export {
  createDatabase,
  type Database,
  type Models,
  type Repositories,
} from "./database/database.js";
export type { DatabaseOptions, HookContext, ModelHooks } from "./database/database-options.js";
export type {
  BatchOptions,
  CountOptions,
  GroupOptions,
  ListOptions,
  ManyDeleteOptions,
  ManyUpdateOptions,
  ReadOptions,
  ValueOptions,
} from "./database/generated/list-options.js";
export type { ListQuery } from "./database/generated/list-query.js";
export type { AggregateResult, GroupResult } from "./database/repository/aggregate-types.js";
export type {
  ManyCondition,
  OneCondition,
  QueryWhere,
} from "./database/repository/filter-types.js";
export type { Include } from "./database/repository/include-types.js";
export type { CreateData, UpdateData } from "./database/repository/nested-types.js";
export type {
  CreateManyOptions,
  CreateOptions,
  DeleteManyOptions,
  DeleteOptions,
  FindFirstOptions,
  FindManyOptions,
  FindUniqueOptions,
  RowsOptions,
  ScanOptions,
  ShapeOptions,
  UpdateManyOptions,
  UpdateOptions,
  UpsertOptions,
} from "./database/repository/query-options.js";
export type { Repository } from "./database/repository/repository.js";
export type {
  CreatedMany,
  CreationOutcome,
  ManyResult,
  RowOutcome,
  Shaped,
  Versioned,
} from "./database/repository/result-types.js";
export type { RowQuery } from "./database/repository/row-query.js";
export type { PurgeOptions, RestoreOptions } from "./database/repository/soft-delete-types.js";
export type { ScopedDatabase, ScopeValues } from "./database/scope-types.js";
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
export { type OrmErrorCode, ormErrorCodes } from "./errors/codes.js";
export { ComputedFieldError } from "./errors/computed-field-error.js";
export {
  LeaseLostError,
  MigrationMissingError,
  RowUpgradeError,
  SchemaNotMigratedError,
} from "./errors/migration-errors.js";
export { type Operation, OrmError, type RowId } from "./errors/orm-error.js";
export {
  InvalidArgumentError,
  InvalidCursorError,
  InvalidQueryError,
  LiveQueryUnavailableError,
  ReadLimitError,
  UnindexedQueryError,
} from "./errors/query-errors.js";
export {
  AmountInvalidError,
  IndexKeyError,
  type KeyProblem,
  PrimaryKeyChangeError,
  ReferenceMissingError,
  ReferenceRequiredError,
  RowInvalidError,
  RowNotFoundError,
  RowReferencedError,
  StoredRowInvalidError,
  UniqueConstraintError,
  VersionConflictError,
} from "./errors/row-errors.js";
export type { RowIssue } from "./errors/row-issue.js";
export {
  IndexChangedError,
  IndexNotReadyError,
  ModelDefinitionError,
  ModelDroppedError,
  PrimaryKeyDiffersError,
  StaleSchemaError,
  SystemEntryError,
  UnknownIndexError,
  type UnreadableState,
} from "./errors/schema-errors.js";
export { ScopeError } from "./errors/scope-error.js";
export {
  TransactionBypassedError,
  TransactionConflictError,
  TransactionEndedError,
  TransactionNotAwaitedError,
} from "./errors/transaction-errors.js";
export type { CheckedCopies, OutdatedCopy } from "./migrate/copies/check-copies.js";
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
export { decimal } from "./model/aggregates/decimal.js";
export { defineModel } from "./model/define-model.js";
export {
  type AnyIndexDefinition,
  type ConditionValue,
  type DescendingField,
  desc,
  type FieldIndexDefinition,
  type IndexDefinition,
  type KeyField,
  type KeyIndexDefinition,
  type KeyValue,
  type ListField,
  type ListIndexDefinition,
  type NamedNormalizers,
  type RequiredKeyField,
  type RowCondition,
} from "./model/indexes/index-definition.js";
export type { Normalizer } from "./model/indexes/normalizers.js";
export {
  type CreateSchema,
  createSchema,
  type UpdateSchema,
  updateSchema,
} from "./model/input-schemas.js";
export type {
  AnyModels,
  CreateInput,
  IndexFields,
  Model,
  PrimaryKeyField,
  PrimaryKeyFields,
  Row,
} from "./model/model.js";
export type { ComputedValue } from "./model/options/computed-types.js";
export {
  type BelongsTo,
  belongsTo,
  type CopiedFields,
  type HasMany,
  type HasOne,
  hasMany,
  hasOne,
  type ManyToMany,
  manyToMany,
  type OnDelete,
  type Relation,
} from "./model/relations/relation-definition.js";
export type { ComputedOf, ResultRow } from "./model/rows/result-row.js";
export type { FieldOperation, UpdateInput } from "./model/rows/update-input.js";
export type {
  CannotHold,
  CannotMark,
  CannotWriteNested,
  IndexCannotBe,
  LeadsNowhere,
  NamesNoRow,
  NoCondition,
  NoIndexServes,
  NoSoftDelete,
  NotScopable,
  ReadsWholeTable,
  UnknownField,
  UnknownOption,
  UnknownRelation,
} from "./model/type-errors.js";
export type { ExplainedSegment, QueryExplanation } from "./query/read/explain-query.js";
export type {
  BetweenFilter,
  Condition,
  EqualsFilter,
  FieldCondition,
  HasFilter,
  InFilter,
  RangeFilter,
  StartsWithFilter,
} from "./query/types/condition-types.js";
export type { IndexedField, IndexName } from "./query/types/key-path-types.js";
export type { IndexedWhere, OrderBy, UniqueWhere } from "./query/types/where-types.js";
export type { MigrationPhase, MigrationProgress, RunOptions } from "./run/migration-run.js";
export {
  defineMigration,
  type MadeRow,
  type MigrationDefinition,
  type RowMigration,
} from "./schema/define-migration.js";
export type { RowChange, StepClass } from "./schema/upgrade/compare-rows.js";

export { type ResumedDeletes, resumeDeletes } from "./write/cascade/resume-deletes.js";
export type { PurgeResult } from "./write/deleted/purge-rows.js";
