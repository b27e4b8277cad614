export { isKeywrightError, KeywrightError, type Progress } from "@keywright/core";
export {
  type MigrateOptions,
  type MigrationOutcome,
  type MigrationResult,
  migrate,
} from "./change/migrate.js";
export { type MigrationStatus, migrationStatus } from "./change/migration-status.js";
export type {
  ModelRowChange,
  ModelRowCommit,
  RowConsumeOptions,
  RowDelivery,
} from "./database/consume-types.js";
export { createDatabase } from "./database/create-database.js";
export type { Database, Models, Repositories, TransactionDatabase } from "./database/database.js";
export type { DatabaseOptions, HookContext, ModelHooks } from "./database/database-options.js";
export type { ListQuery } from "./database/generated/list-query.js";
export type { JobsOf, ScopedJobs, TransactionJobs } from "./database/job-database-types.js";
export type {
  AggregateResult,
  GroupOptions,
  GroupResult,
} from "./database/repository/aggregate-types.js";
export type { GroupOf, TotalsOf } from "./database/repository/call-types.js";
export type {
  ChangesOptions,
  HistoryOptions,
  RestoreRowOptions,
  RowChange,
  RowCommit,
  RowVersion,
} from "./database/repository/history-types.js";
export type {
  ManyCondition,
  OneCondition,
  QueryWhere,
} from "./database/repository/options/filter-types.js";
export type { Include } from "./database/repository/options/include-types.js";
export type { CreateData, UpdateData } from "./database/repository/options/nested-types.js";
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
} from "./database/repository/options/query-options.js";
export type {
  BatchOptions,
  CountOptions,
  ListOptions,
  ManyDeleteOptions,
  ManyUpdateOptions,
  ReadOptions,
  ValueOptions,
} from "./database/repository/options/read-options.js";
export type {
  PurgeOptions,
  RestoreOptions,
} from "./database/repository/options/soft-delete-types.js";
export type { Repository } from "./database/repository/repository.js";
export type {
  CreatedMany,
  CreationOutcome,
  ManyResult,
  RowOutcome,
  Shaped,
} from "./database/repository/results/result-types.js";
export type { Versioned } from "./database/repository/results/shape-types.js";
export type { RowQuery } from "./database/repository/row-reads.js";
export type {
  RowSearchOptions,
  SearchMatch,
  SearchOptions,
  SearchPage,
} from "./database/repository/search-types.js";
export type { ScopedDatabase } from "./database/scope/scope-types.js";
export type { ScopeValues } from "./database/scope/scoped-models.js";
export type { PastOptions } from "./database/snapshot/run-past.js";
export type { SnapshotOptions } from "./database/snapshot/run-snapshot.js";
export type { SnapshotRepository, SnapshotView } from "./database/snapshot/snapshot-types.js";
export { type OrmErrorCode, ormErrorCodes } from "./errors/codes.js";
export { ComputedFieldError } from "./errors/computed-field-error.js";
export { type HttpStatus, httpStatusOf } from "./errors/http-status.js";
export {
  JobCancelledError,
  JobDefinitionError,
  JobError,
  JobInterruptedError,
  JobLostError,
  JobPayloadError,
  JobTimeoutError,
  WorkerStoppedError,
} from "./errors/job-errors.js";
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
  RowVersionNotFoundError,
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
  type ChangedPlace,
  IsolationUnavailableError,
  LogUnavailableError,
  PastUnreadableError,
  SnapshotEndedError,
  SnapshotReadOnlyError,
  TransactionBypassedError,
  TransactionConflictError,
  TransactionEndedError,
  TransactionNotAwaitedError,
} from "./errors/transaction-errors.js";
export {
  type AnyJobs,
  defineJob,
  type JobDefinition,
  type JobOptions,
  type JobRate,
  type JobRetry,
} from "./jobs/define/define-job.js";
export type { Duration } from "./jobs/define/duration.js";
export type {
  EnqueuedJob,
  EnqueueManyOptions,
  EnqueueOptions,
  FailedJobs,
  JobCounts,
  JobFailure,
  JobInfo,
  JobInput,
  JobListOptions,
  JobPayload,
  JobQueue,
  JobQueues,
  ScopedJobQueue,
  ScopedPayload,
  StoredJobs,
  StoredTopic,
} from "./jobs/job-types.js";
export type { JobState } from "./jobs/store/job-model.js";
export type {
  JobContext,
  JobHandler,
  JobHandlers,
  RunningJob,
  StopOptions,
  Worker,
  WorkOptions,
} from "./jobs/work/work-types.js";
export { decimal } from "./model/aggregates/decimal.js";
export { defineModel } from "./model/define-model.js";
export type {
  ConditionValue,
  KeyField,
  KeyValue,
  ListField,
  RequiredKeyField,
  RowCondition,
} from "./model/indexes/field-types.js";
export {
  type AnyIndexDefinition,
  type DescendingField,
  desc,
  type FieldIndexDefinition,
  type IndexDefinition,
  type KeyIndexDefinition,
  type ListIndexDefinition,
  type NamedNormalizers,
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
export type { ExplainedSegment, QueryExplanation } from "./read/find/explain-query.js";
export type { RowChangeType } from "./read/history/row-changes.js";
export type { ExplainedTerm, SearchExplanation } from "./read/search/explain-search.js";
export type {
  BetweenFilter,
  Condition,
  EqualsFilter,
  FieldCondition,
  HasFilter,
  InFilter,
  RangeFilter,
  StartsWithFilter,
} from "./read/types/condition-types.js";
export type { IndexedField, IndexName } from "./read/types/key-path-types.js";
export type { IndexedWhere, OrderBy, UniqueWhere } from "./read/types/where-types.js";
export type { CatalogEntry, StoredIndex } from "./state/catalog/catalog-entry.js";
export type { AnyDatabase } from "./state/context/any-database.js";
export type { Direction } from "./state/context/any-query.js";
export type { DatabaseCall, Middleware } from "./state/context/database-call.js";
export type { JobTracing, QueryEvent, TracedJob } from "./state/context/database-settings.js";
export type { ExplainedRelation } from "./state/context/open-filters.js";
export type { Page, PageOptions } from "./state/context/page.js";
export type { MigrationProgress } from "./state/run/migration-run.js";
export {
  defineMigration,
  type MadeRow,
  type MigrationDefinition,
  type RowMigration,
} from "./state/schema/define-migration.js";
export type { TransactionOptions } from "./state/transaction/run-scoped-transaction.js";
export type { Language } from "./text/languages.js";
export type { IgnoredPart, IgnoredReason } from "./text/parsed-query.js";
export { type SnippetOptions, snippet, type TextRange } from "./text/snippet.js";
export { type ResumedDeletes, resumeDeletes } from "./write/cascade/resume-deletes.js";
export type { PurgeResult } from "./write/deleted/purge-rows.js";
