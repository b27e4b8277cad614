export type {
  CatalogEntry,
  IndexState,
  StoredIndex,
} from "./catalog/catalog-entry.js";
export {
  type AnyDatabase,
  createDatabase,
  type Database,
  type Models,
  tableOf,
} from "./database/database.js";
export { migrate } from "./database/migrate-database.js";
export type { Repository } from "./database/repository.js";
export type { ListOptions, Table } from "./database/table.js";
export { type OrmErrorCode, ormErrorMessages } from "./errors/codes.js";
export {
  IndexChangedError,
  IndexKeyError,
  IndexNotReadyError,
  InvalidCursorError,
  InvalidQueryError,
  ModelDefinitionError,
  OrmError,
  PrimaryKeyChangeError,
  type RowId,
  RowInvalidError,
  type RowIssue,
  RowNotFoundError,
  StaleSchemaError,
  UnindexedQueryError,
  UniqueConstraintError,
  UnknownIndexError,
  VersionConflictError,
} from "./errors/orm-errors.js";
export type { Duplicate } from "./migrate/backfill-state.js";
export type {
  MigratedIndex,
  MigrateOptions,
  MigrationResult,
} from "./migrate/migrate.js";
export type { MigrationProgress } from "./migrate/migration-progress.js";
export {
  assertDistinctPrefixes,
  type CompiledIndex,
  type CompiledModel,
  compileModel,
} from "./model/compile-model.js";
export { defineModel, isModel } from "./model/define-model.js";
export type {
  AnyIndexDefinition,
  CompoundIndexDefinition,
  CreateInput,
  FieldIndexDefinition,
  IndexDefinition,
  IndexFields,
  KeyField,
  KeyValue,
  Model,
  PrimaryKeyField,
  Row,
  UpdateInput,
} from "./model/model.js";
export type { Direction } from "./query/plan-query.js";
export type {
  FindManyOptions,
  IndexedField,
  IndexedWhere,
  RangeFilter,
  UniqueWhere,
} from "./query/query-types.js";
export type { Page, PageOptions } from "./query/read-page.js";
