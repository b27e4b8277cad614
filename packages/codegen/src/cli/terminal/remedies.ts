/** The remedy for an error, or a function that returns it for the fields of the error. */
type Remedy = string | ((error: Readonly<Record<string, unknown>>) => string);

const migrateFirst = "Migrate first: npx keywright migrate run";

/** The remedies for errors of core and of the ORM that commands can receive, by error code. */
const remedies: Readonly<Record<string, Remedy>> = {
  KW_DATABASE_PATH_INVALID: "Correct the path in `database` of the configuration.",
  KW_DATABASE_NOT_FOUND:
    "Correct the path in the configuration, in `database` or `adopt.from`; a relative one begins at the configuration's folder.\nWhere a database is to be new, the program makes it, or npx keywright migrate run; opened with `readOnly` or `createIfMissing: false` none is made.",
  KW_DATABASE_FORMAT:
    "Make sure that the path is that of a Keywright database, and update Keywright where a later version has written it.",
  KW_DATABASE_MODE:
    'Open it as it was made: with `compat: "deno"` where `mode` is deno, and without it where it is specification.',
  KW_DATABASE_READ_ONLY: "Open the database for writing in `database` of the configuration.",
  KW_DATABASE_CLOSED:
    "Let `database` of the configuration open a database of its own with each call: the commands close it.",
  KW_CORRUPTION:
    "Keep a copy of the database's folder as it is, and restore a backup. `npx keywright verify` says what else is wrong.",
  KW_ENGINE_FAILED:
    "Look at the cause: the disk may be full, or its files not readable and writable. Then run the command again.",
  KW_STALE_SCHEMA: `Where these models are the newer ones, migrate first: npx keywright migrate run
Where the database is, run the command with its models, and with the newest Keywright.`,
  KW_SCHEMA_NOT_MIGRATED: migrateFirst,
  KW_INDEX_CHANGED: migrateFirst,
  KW_INDEX_NOT_READY: ({ state, model, index }) =>
    state === "unique-pending"
      ? `Rows share values of it: npx keywright migrate status --duplicates ${String(model)}.${String(index)}
Change or delete all but one row of each value: the index can be read then.`
      : migrateFirst,
  KW_ROW_UPGRADE:
    "Correct the migration or the row. To see all such rows: npx keywright migrate status --failed <model>",
  KW_ARGUMENT_INVALID: "Correct what the configuration says there, as the reason says.",
  KW_SELECTOR_INVALID: "Correct the prefix, or --start and --end, as the reason says.",
  KW_LEASE_LOST: "See who is at work, and then run the command again: npx keywright migrate status",
};

/**
 * Returns the remedy for an error of core or of the ORM. Undefined if there is none. This package's
 * errors have their own field `remedy`.
 */
export function remedyFor(error: Error & { readonly code: string }): string | undefined {
  const remedy = Object.hasOwn(remedies, error.code) ? remedies[error.code] : undefined;
  return typeof remedy === "function" ? remedy({ ...error }) : remedy;
}
