// Backups of databases, and their restoration.
export {
  BackupDamagedError,
  BackupDatabaseError,
  BackupFormatError,
  BackupFullNeededError,
  BackupKeyError,
  BackupMomentError,
} from "./errors/backup-errors.js";
export {
  type BackupOptions,
  type BackupProgress,
  type BackupResult,
  backup,
} from "./kv/backup/backup.js";
export type { BackupSink } from "./kv/backup/backup-sink.js";
export { folderSink } from "./kv/backup/folder-sink.js";
export { type LogStatus, logStatus, setLog } from "./kv/backup/kept-log.js";
export {
  type RestoreOptions,
  type RestoreProgress,
  type RestoreResult,
  restore,
} from "./kv/backup/restore/restore.js";
export {
  type BackupReport,
  type VerifyBackupOptions,
  verifyBackup,
} from "./kv/backup/verify-backup.js";
