/**
 * The message of each error code of this package. A code never changes its meaning. Details that
 * vary are fields of the error. Each code has a heading in `docs/errors.md`.
 */
export const codegenErrorMessages = {
  KW_CONFIG_MISSING: "There is no configuration file.",
  KW_CONFIG_INVALID: "The configuration is not of the shape that defineConfig takes.",
  KW_MODULE_MISSING: "The configuration names a file that does not exist.",
  KW_MODULE_FAILED: "A module failed while it was loaded.",
  KW_TSCONFIG_INVALID: "The project's tsconfig.json cannot be read whole.",
  KW_MODELS_UNMATCHED: "A pattern of the configuration matches no file.",
  KW_MODULE_WITHOUT_MODEL: "A module exports no model.",
  KW_MODEL_DUPLICATE: "Two models have the same name.",
  KW_NAME_COLLISION: "Two things would have the same name in the generated code.",
  KW_NAME_UNUSABLE: "No identifier can be made from a name.",
  KW_RELATION_INVALID: "A relation does not fit the models of the project.",
  KW_TYPE_INEXPRESSIBLE: "A part of the schema has no type that can be written down.",
  KW_OUTPUT_OCCUPIED: "A file that was not generated is where a generated one belongs.",
  KW_OUTPUT_FAILED: "The output folder could not be read or written.",
  KW_LOCK_FILE: "keywright.lock.json is not one of this version's.",
  KW_PROJECT_CONFIGURED: "The project has a configuration already.",
  KW_PROJECT_FILE: "A file of the project could not be read or written.",
  KW_DATABASE_UNSET: "The configuration does not say how the database is opened.",
  KW_DATABASE_OPEN: "The configuration's own function could not open the database.",
  KW_ADOPT_UNSET: "The configuration does not say what is adopted.",
  KW_PROJECT_CODE: "The project's own code threw an error.",
  KW_COMMAND_UNFINISHED: "The process ended before the command did.",
  KW_KEY_NOTATION: "A key is not written as one.",
  KW_ENTRY_MISSING: "There is nothing under this key.",
  KW_FILE_FAILED: "A file could not be read or written.",
  KW_IMPORT_LINE: "A line is not one of an export of Keywright's.",
  KW_IMPORT_INCOMPLETE: "The export is not whole.",
  KW_IMPORT_REFUSED: "The database does not take an entry.",
} as const;

/** A key of {@link codegenErrorMessages}. */
export type CodegenErrorCode = keyof typeof codegenErrorMessages;

/** The remedy for each error, which the command prints below the message. */
export const codegenErrorRemedies: Readonly<Record<CodegenErrorCode, string>> = {
  KW_CONFIG_MISSING:
    'Create keywright.config.ts with `export default defineConfig({ models: "src/models/*.ts", output: "src/db" })`, or name another file with --config.',
  KW_CONFIG_INVALID:
    'Export as default what `defineConfig({ models: "src/models/*.ts", output: "src/db" })` returns.',
  KW_MODULE_MISSING:
    "Correct the path in `models`; it is relative to the configuration file, and names a file or is a pattern.",
  KW_MODULE_FAILED: "Correct the module: it has to load without a database and without arguments.",
  KW_TSCONFIG_INVALID:
    "Correct what it extends as the cause says, or install the package that it names: modules are loaded by its path aliases.",
  KW_MODELS_UNMATCHED: "Correct the pattern in `models`; it is relative to the configuration file.",
  KW_MODULE_WITHOUT_MODEL:
    'Export what `defineModel` returns, or leave the module out of `models`, as with "!src/models/shared.ts".',
  KW_MODEL_DUPLICATE: "Give one of the two models another name.",
  KW_NAME_COLLISION: "Rename one of the two.",
  KW_NAME_UNUSABLE:
    "Use a name whose letters and digits, after what separates them, begin with a letter.",
  KW_RELATION_INVALID:
    "Change the relation, or the model that it leads to, as the reason says. `models` of the configuration has to name the modules of all models.",
  KW_TYPE_INEXPRESSIBLE: "Change this part of the schema as the reason says.",
  KW_OUTPUT_OCCUPIED: "Move the file away, or set `output` to another folder.",
  KW_LOCK_FILE:
    "Update Keywright where a later version has written it. Where it is something else, or is broken as by a merge, move it away: it is generated anew.",
  KW_PROJECT_CONFIGURED:
    "Change it as you like and run `npx keywright generate`, or move it away to begin anew.",
  KW_PROJECT_FILE:
    "Make sure that the file can be read and written, that folders on its path are folders, and that package.json is valid; then run it again.",
  KW_DATABASE_UNSET:
    'Add `database: () => openKv("data/app")` to what `defineConfig` takes, with `openKv` of @keywright/core.',
  KW_DATABASE_OPEN: "Correct the function at this place; it returns what `openKv` returns.",
  KW_KEY_NOTATION:
    "Write a key as a JSON array, in quotes for the shell: '[\"users\", 1n, b64:AQID]'. A bigint has an n behind it, bytes are base64 behind b64:, and neither is in quotes.",
  KW_ENTRY_MISSING:
    'Look for the key with `npx keywright inspect ls`: the number 1, the bigint 1n and the text "1" are different keys.',
  KW_FILE_FAILED: "Correct the path, or make sure that it may be read or written.",
  KW_IMPORT_LINE:
    "Import a file that `keywright inspect export` has written. After a correction, import it again: what is there already is left as it is.",
  KW_IMPORT_INCOMPLETE:
    "Get the whole export and import it: what is there already is left as it is.",
  KW_IMPORT_REFUSED:
    "Do what the cause says, or remove the line, and import the file again: what is there already is left as it is.",
  KW_ADOPT_UNSET:
    'Add `adopt: { from: () => openKv("data/old"), models: { users: kvdexLayout(…) } }` to what `defineConfig` takes; see `npx keywright adopt --help`.',
  KW_PROJECT_CODE: "Correct the code at this place, or what it works with, as the cause says.",
  KW_COMMAND_UNFINISHED:
    "Look in the configuration and the modules of the models for what ends the process, or is awaited and never comes. What was done until then stays.",
  KW_OUTPUT_FAILED: "Make sure that `output` is a folder, or can be made, and that it is writable.",
};

/** The remedy for `KW_MODULE_FAILED` if the module or a module that it imports was not found. */
export const importMissingRemedy =
  "Correct the import that the cause names. A package has to be installed; a path alias has to be in `paths` of tsconfig.json, or of the one that it refers to for the module.";
