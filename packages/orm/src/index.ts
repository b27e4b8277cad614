export { isKeywrightError, KeywrightError } from "@keywright/core";
export type {
  AdoptedModel,
  AdoptProgress,
  AdoptResult,
  BrokenEntry,
  BrokenEntryKind,
} from "./adopt/adopt-result.js";
export { guideLayout } from "./adopt/guide-layout.js";
export type { KvdexEncoder } from "./adopt/kvdex-encoder.js";
export { type KvdexOptions, kvdexLayout } from "./adopt/kvdex-layout.js";
export { type PentagonOptions, pentagonLayout } from "./adopt/pentagon-layout.js";
export type {
  ExpectedEntry,
  SourceDocument,
  SourceEntry,
  SourceKv,
  SourceLayout,
  SourceReader,
} from "./adopt/source-layout.js";
export type { Duplicate, UnindexedRow, UnindexedRows } from "./catalog/backfill-state.js";
export type {
  CatalogEntry,
  IndexState,
  StoredIndex,
} from "./catalog/catalog-entry.js";
export { type AdoptedFrom, type AdoptOptions, adopt } from "./database/adopt-database.js";
export { type ChangedRows, findChangedRows } from "./database/changed-rows.js";
export type { CheckedModels } from "./database/checked-models.js";
export {
  type AnyDatabase,
  createDatabase,
  type Database,
  type Models,
  openModels,
  type Repositories,
  tableOf,
} from "./database/database.js";
export type { DatabaseOptions, ModelHooks } from "./database/database-options.js";
export type { Include } from "./database/include-types.js";
export {
  findDuplicates,
  findFailedRows,
  migrate,
  migrationStatus,
  planMigration,
  previewMigration,
} from "./database/migrate-database.js";
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
} from "./database/query-options.js";
export { replaceIndex } from "./database/replace-index.js";
export type { Repository } from "./database/repository.js";
export type { ManyResult, RowOutcome, Shaped, Versioned } from "./database/result-types.js";
export { type ResumedDeletes, resumeDeletes } from "./database/resume-deletes.js";
export type { RowQuery } from "./database/row-query.js";
export type { ListOptions, Table } from "./database/table.js";
export {
  findDanglingReferences,
  type VerifyOptions,
  type VerifyResult,
  verifyIndexes,
} from "./database/verify-database.js";
export { type OrmErrorCode, ormErrorMessages } from "./errors/codes.js";
export {
  LeaseLostError,
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
  IndexKeyError,
  PrimaryKeyChangeError,
  ReferenceMissingError,
  RowInvalidError,
  type RowIssue,
  RowNotFoundError,
  RowReferencedError,
  StoredRowInvalidError,
  UniqueConstraintError,
  VersionConflictError,
} from "./errors/row-errors.js";
export {
  IndexChangedError,
  IndexNotReadyError,
  type IndexProgress,
  ModelDefinitionError,
  StaleSchemaError,
  UnknownIndexError,
  type UnreadableState,
} from "./errors/schema-errors.js";
export { TransactionConflictError, TransactionEndedError } from "./errors/transaction-errors.js";
export type {
  DanglingReference,
  DanglingReferencesOptions,
  DanglingReferencesPage,
} from "./migrate/dangling-references.js";
export type { FailedRow, FailedRowsOptions, FailedRowsPage } from "./migrate/failed-rows.js";
export { formatPlan } from "./migrate/format-plan.js";
export type { DuplicatesPage, DuplicatesQuery, DuplicateValue } from "./migrate/list-duplicates.js";
export type {
  MigratedIndex,
  MigrateOptions,
  MigrationOutcome,
  MigrationResult,
} from "./migrate/migrate.js";
export type {
  DatabaseModel,
  MigrationPlan,
  MigrationStep,
  ModelPlan,
  StepKind,
} from "./migrate/migration-plan.js";
export type { MigrationPhase, MigrationProgress } from "./migrate/migration-progress.js";
export type { RunOptions } from "./migrate/migration-run.js";
export type {
  CounterStatus,
  IndexStatus,
  MigrationStatus,
  ModelStatus,
  RunnerStatus,
  TransformStatus,
} from "./migrate/migration-status.js";
export type { PreviewedRow, PreviewOptions } from "./migrate/preview-transform.js";
export type { IndexReplacement, ReplacedIndex, ReplaceStep } from "./migrate/replace-index.js";
export type { StaleCopies, StaleCopy } from "./migrate/stale-copies.js";
export type { VerifiedModel } from "./migrate/verified-model.js";
export type { EntryFinding, FindingCounts } from "./migrate/verify-state.js";
export { assertDistinctPrefixes, compileModel } from "./model/compile-model.js";
export type { CompiledIndex, CompiledModel } from "./model/compiled-model.js";
export { defineModel, isModel } from "./model/define-model.js";
export {
  type AnyIndexDefinition,
  type DescendingField,
  desc,
  type FieldIndexDefinition,
  type IndexDefinition,
  type KeyField,
  type KeyIndexDefinition,
  type KeyValue,
  type ListField,
  type ListIndexDefinition,
  type RequiredKeyField,
} from "./model/index-definition.js";
export type {
  AnyModels,
  CreateInput,
  IndexFields,
  Model,
  PrimaryKeyField,
  PrimaryKeyFields,
  Row,
} from "./model/model.js";
export {
  type BelongsTo,
  belongsTo,
  type HasMany,
  type HasOne,
  hasMany,
  hasOne,
  type ManyToMany,
  manyToMany,
  type OnDelete,
  type Relation,
} from "./model/relation-definition.js";
export type {
  CannotHold,
  IndexCannotBe,
  LeadsNowhere,
  NamesNoRow,
  NoCondition,
  NoIndexServes,
  ReadsWholeTable,
  UnknownField,
  UnknownOption,
  UnknownRelation,
} from "./model/type-errors.js";
export type { FieldOperation, UpdateInput } from "./model/update-input.js";
export type { Direction } from "./query/any-query.js";
export type {
  BetweenFilter,
  Condition,
  FieldCondition,
  HasFilter,
  InFilter,
  RangeFilter,
  StartsWithFilter,
} from "./query/condition-types.js";
export type { QueryEvent } from "./query/database-settings.js";
export type { ExplainedSegment, QueryExplanation } from "./query/explain-query.js";
export type { IndexedField, IndexName } from "./query/key-path-types.js";
export type { Page, PageOptions } from "./query/read-page.js";
export type { IndexedWhere, OrderBy, UniqueWhere } from "./query/where-types.js";
export { linkRelations } from "./relations/link-relations.js";
export { compareRows, type RowChange, type StepClass } from "./schema/compare-rows.js";
export {
  defineMigration,
  type MadeRow,
  type MigrationDefinition,
  type RowMigration,
} from "./schema/define-migration.js";
export type {
  FieldManifest,
  IndexManifest,
  IndexTraits,
  JsonSchema,
  ModelManifest,
  RelationManifest,
  RowManifest,
  SchemaManifest,
} from "./schema/manifest.js";
export { modelManifest, schemaManifest } from "./schema/model-manifest.js";
export { rowManifest } from "./schema/row-manifest.js";
