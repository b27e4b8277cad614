import { commandLine } from "./wrap.js";

type Remedy = string | ((error: Readonly<Record<string, unknown>>) => string);

const migrateFirst = `Migrate first:\n${commandLine("migrate run")}`;

const remedies: Readonly<Record<string, Remedy>> = {
  KW_DATABASE_PATH_INVALID: "Correct the path in `database` of the configuration.",
  KW_DATABASE_NOT_FOUND: `Correct the path or URL. A relative path in \`database\` or \`adopt.from\` of the configuration starts at the configuration's folder. To create a new database:\n${commandLine("migrate run")}`,
  KW_DATABASE_FORMAT:
    "Check that the path is that of a Keywright database. If a later version of Keywright wrote it, update Keywright.",
  KW_DATABASE_MODE:
    'Open the database as it was created: with `compat: "deno"` if its mode is deno, and without it if its mode is specification.',
  KW_DATABASE_READ_ONLY: "Open the database for writing in `database` of the configuration.",
  KW_DATABASE_CLOSED:
    "Make `database` of the configuration open a new database in each call, because commands close it.",
  KW_CORRUPTION: ({ file }) =>
    `Copy the database's folder as it is, then restore a backup. To see what else is damaged:\n${commandLine(file === undefined ? "verify" : "verify --files")}\nIf only the end of the log is damaged, for example after a power failure, this writes a copy without it:\n${commandLine("repair <folder>")}\nWithout a backup, this writes what can be read into a new database:\n${commandLine("repair <folder> --rescue")}`,
  KW_ENGINE_FAILED:
    "Look at the cause: the disk may be full, or the files may not be readable and writable. Then run the command again.",
  KW_STALE_SCHEMA: `If these models are newer than the database, migrate first:\n${commandLine("migrate run")}\nIf the database is newer, run the command with its models and with the newest Keywright.`,
  KW_MODEL_DROPPED: `Remove the model from the project, then complete the removal:\n${commandLine("migrate run")}`,
  KW_SCHEMA_NOT_MIGRATED: migrateFirst,
  KW_INDEX_CHANGED: migrateFirst,
  KW_INDEX_NOT_READY: ({ state, model, index }) =>
    state === "unique-pending"
      ? `Rows share values of this unique index. To list them:\n${commandLine(`migrate status --duplicates ${String(model)}.${String(index)}`)}\nChange or delete all but one row of each value. Then the index can be read.`
      : migrateFirst,
  KW_ROW_UPGRADE: `Correct the migration or the row. To list all such rows:\n${commandLine("migrate status --failed <model>")}`,
  KW_ARGUMENT_INVALID: "Correct this setting in the configuration.",
  KW_SELECTOR_INVALID: "Correct the prefix, --start or --end.",
  KW_LEASE_LOST: `Wait until the active run ends, then run the command again. To see the run:\n${commandLine("migrate status")}`,
};

/** Returns the remedy for an error of core or of the ORM. Undefined if there is none. */
export function remedyFor(error: Error & { readonly code: string }): string | undefined {
  const remedy = Object.hasOwn(remedies, error.code) ? remedies[error.code] : undefined;
  return typeof remedy === "function" ? remedy({ ...error }) : remedy;
}
