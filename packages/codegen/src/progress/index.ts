export { type MigrationProgressReporter, migrationProgress } from "./migration-progress.js";
export { type RowProgressReporter, rowProgress } from "./row-progress.js";
