import { type ErrorClass, errorClass } from "./codegen-error.js";

/** No configuration file was found. `tried` has absolute paths. */
export const ConfigMissingError: ErrorClass<{ tried: readonly string[] }> = errorClass(
  "KW_CONFIG_MISSING",
  ({ tried }) => ({
    text: `there is no configuration file (tried ${tried.join(", ")})`,
    remedy: "create one with `npx keywright init`, or name another file with --config",
  }),
);
export type ConfigMissingError = InstanceType<typeof ConfigMissingError>;

/**
 * A configuration that does not have the shape that `defineConfig` takes. `at` is the place in it.
 */
export const ConfigInvalidError: ErrorClass<{ path: string; at: string; reason: string }> =
  errorClass("KW_CONFIG_INVALID", ({ path, at, reason }) => ({
    text: `${path}: ${at === "default" ? "default export" : at}: ${reason}`,
    remedy: `the file must export \`defineConfig({ models: "src/models/*.ts", output: "src/db" })\` as default`,
  }));
export type ConfigInvalidError = InstanceType<typeof ConfigInvalidError>;

/** A path in `models` of the configuration that is not a file. */
export const ModuleMissingError: ErrorClass<{ path: string }> = errorClass(
  "KW_MODULE_MISSING",
  ({ path }) => ({
    text: `${path}: this path in \`models\` is not a file`,
    remedy: `write a path or a pattern such as "src/models/*.ts", relative to the configuration file`,
  }),
);
export type ModuleMissingError = InstanceType<typeof ModuleMissingError>;

/**
 * A module that threw an error or has a syntax error. It is the configuration, a module of models
 * or a module that one of these imports. `at` is the line that failed, as `file:line`, or undefined
 * if the error does not contain it.
 */
export const ModuleFailedError: ErrorClass<{ path: string; at: string | undefined }> = errorClass(
  "KW_MODULE_FAILED",
  ({ path, at }, cause) => ({
    text: `${path}: loading the module failed${at === undefined ? "" : ` at ${at}`}`,
    remedy: isImportMissing(cause)
      ? "correct the import that the cause names: install the package, or add a path alias to `paths` of tsconfig.json"
      : "correct it as the cause says. The module must load without a database and without arguments",
  }),
);
export type ModuleFailedError = InstanceType<typeof ModuleFailedError>;

function isImportMissing(cause: unknown): boolean {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  return code === "MODULE_NOT_FOUND" || code === "ERR_MODULE_NOT_FOUND";
}

/**
 * A `tsconfig.json` whose path aliases cannot be read, for example because it extends a file that
 * does not exist.
 */
export const TsconfigInvalidError: ErrorClass<{ path: string }> = errorClass(
  "KW_TSCONFIG_INVALID",
  ({ path }) => ({
    text: `${path}: what it extends cannot be read`,
    remedy: "correct `extends` as the cause says, or install the package that it names",
  }),
);
export type TsconfigInvalidError = InstanceType<typeof TsconfigInvalidError>;

/** Patterns of the configuration that match no file. They are relative to `folder`. */
export const ModelsUnmatchedError: ErrorClass<{ patterns: readonly string[]; folder: string }> =
  errorClass("KW_MODELS_UNMATCHED", ({ patterns, folder }) => ({
    text: `models: no file matches ${patterns.join(", ")}`,
    remedy: `correct the pattern, which is relative to ${folder}`,
  }));
export type ModelsUnmatchedError = InstanceType<typeof ModelsUnmatchedError>;

/** A module that exports no model. `exports` has the names of what it exports. */
export const ModuleWithoutModelError: ErrorClass<{ path: string; exports: readonly string[] }> =
  errorClass("KW_MODULE_WITHOUT_MODEL", ({ path, exports }) => ({
    text: `${path}: the module exports no model${exports.length === 0 ? "" : `, only ${exports.join(", ")}`}`,
    remedy: `export what \`defineModel\` returns, or exclude the module from \`models\`, as with "!src/models/shared.ts"`,
  }));
export type ModuleWithoutModelError = InstanceType<typeof ModuleWithoutModelError>;

/** Two models with the same name, which would store their rows in the same place. */
export const ModelDuplicateError: ErrorClass<{ model: string; first: string; second: string }> =
  errorClass("KW_MODEL_DUPLICATE", ({ model, first, second }) => ({
    text: `${model}: two models have this name, ${first} and ${second}`,
    remedy: "give one of them another name",
  }));
export type ModelDuplicateError = InstanceType<typeof ModelDuplicateError>;

/** A name that two things would have in the generated code. `first` and `second` describe them. */
export const NameCollisionError: ErrorClass<{
  generatedName: string;
  first: string;
  second: string;
}> = errorClass("KW_NAME_COLLISION", ({ generatedName, first, second }) => ({
  text: `${generatedName}: two things would have this name in the generated code: ${first}, and ${second}`,
  remedy: "rename one of them",
}));
export type NameCollisionError = InstanceType<typeof NameCollisionError>;

/** A name from which no identifier can be made. `at` describes what has the name. */
export const NameUnusableError: ErrorClass<{ givenName: string; at: string }> = errorClass(
  "KW_NAME_UNUSABLE",
  ({ givenName, at }) => ({
    text: `${JSON.stringify(givenName)}: no identifier can be made from this name (${at})`,
    remedy: "its letters and digits must begin with a letter",
  }),
);
export type NameUnusableError = InstanceType<typeof NameUnusableError>;

/**
 * A relation that does not fit the models of the project: no database can be opened with these
 * models. `at` is its place in the model, and `origin` the export that defines the model, as in
 * `Post in src/models/post.ts`.
 */
export const RelationInvalidError: ErrorClass<{
  model: string;
  at: string;
  reason: string;
  origin: string | undefined;
}> = errorClass("KW_RELATION_INVALID", ({ model, at, reason, origin }) => ({
  text: `${model}: ${at}${origin === undefined ? "" : ` (${origin})`}: ${reason}`,
}));
export type RelationInvalidError = InstanceType<typeof RelationInvalidError>;

/**
 * A part of a model's schema for which no type can be generated. `path` leads from the schema to
 * the part, as in `address.lines`.
 */
export const TypeInexpressibleError: ErrorClass<{ model: string; path: string; reason: string }> =
  errorClass("KW_TYPE_INEXPRESSIBLE", ({ model, path, reason }) => ({
    text: `${model}: no type can be generated for ${path === "" ? "its schema" : `field ${path} of its schema`}: ${reason}`,
    remedy: "change this part of the schema",
  }));
export type TypeInexpressibleError = InstanceType<typeof TypeInexpressibleError>;

/**
 * A file in the output folder that was not generated but has the name of a generated file. It was
 * left as it is.
 */
export const OutputOccupiedError: ErrorClass<{ path: string }> = errorClass(
  "KW_OUTPUT_OCCUPIED",
  ({ path }) => ({
    text: `${path}: the file was not generated but has the name of a generated file`,
    remedy: "move it away, or set `output` to another folder",
  }),
);
export type OutputOccupiedError = InstanceType<typeof OutputOccupiedError>;

/**
 * A failure of the file system in the output folder. No file is half-written, but files before
 * `path` may have been replaced already.
 */
export const OutputFailedError: ErrorClass<{ path: string }> = errorClass(
  "KW_OUTPUT_FAILED",
  ({ path }) => ({
    text: `${path}: the path cannot be read or written`,
    remedy: "`output` must be a folder that you may write to",
  }),
);
export type OutputFailedError = InstanceType<typeof OutputFailedError>;

/** A project that already has a configuration when `keywright init` runs. Nothing was written. */
export const ProjectConfiguredError: ErrorClass<{ path: string }> = errorClass(
  "KW_PROJECT_CONFIGURED",
  ({ path }) => ({
    text: `${path}: the project already has a configuration`,
    remedy: "run `npx keywright generate`, or move the file away to start again",
  }),
);
export type ProjectConfiguredError = InstanceType<typeof ProjectConfiguredError>;

/**
 * A file of the project that cannot be read, written or watched, or whose contents are invalid. No
 * file is half-written.
 */
export const ProjectFileError: ErrorClass<{ path: string }> = errorClass(
  "KW_PROJECT_FILE",
  ({ path }) => ({
    text: `${path}: the file cannot be read, written or watched, or its contents are not valid`,
    remedy: "correct it as the cause says, and run the command again",
  }),
);
export type ProjectFileError = InstanceType<typeof ProjectFileError>;

/** A configuration that lacks the database that a command needs. `at` is the missing setting. */
export const DatabaseUnsetError: ErrorClass<{ path: string; at: string }> = errorClass(
  "KW_DATABASE_UNSET",
  ({ path, at }) => ({
    text: `${path}: the setting \`${at}\` is missing, so no database can be opened`,
    remedy: `add \`${at}: () => openKv("data/app")\`, with \`openKv\` from @keywright/core`,
  }),
);
export type DatabaseUnsetError = InstanceType<typeof DatabaseUnsetError>;

/** The command `copy` has no source. */
export const CopyUnsetError: ErrorClass<{ path: string }> = errorClass(
  "KW_COPY_UNSET",
  ({ path }) => ({
    text: `${path}: the setting \`copy.from\` is missing`,
    remedy:
      'add `copy: { from: () => openKv("data/old") }`, or name the databases as in `npx keywright copy data/old data/new`',
  }),
);
export type CopyUnsetError = InstanceType<typeof CopyUnsetError>;

/** A file of Deno KV or a URL that this runtime cannot open. */
export const DenoKvMissingError: ErrorClass<
  { place: string; runtime: "node" | "deno" },
  { place: string }
> = errorClass("KW_DENO_KV_MISSING", ({ place, runtime }) => ({
  text: `${place}: a file or URL is opened with Deno KV, which is not available here`,
  remedy: `${
    runtime === "deno"
      ? "run Deno with --unstable-kv"
      : "install it with `npm install @deno/kv`, or run the command in Deno"
  }. A Keywright database is a folder`,
  fields: { place },
}));
export type DenoKvMissingError = InstanceType<typeof DenoKvMissingError>;

/** The URL of a database on a server for which the project has no engine. */
export const EngineMissingError: ErrorClass<{ packageName: string }> = errorClass(
  "KW_ENGINE_MISSING",
  ({ packageName }) => ({
    text: `This needs the package ${packageName}, which the project does not have`,
    remedy: `install it with \`npm install ${packageName}\``,
  }),
);
export type EngineMissingError = InstanceType<typeof EngineMissingError>;

/**
 * A function of the configuration that threw an error or did not return a database. `at` is the
 * line that failed, as `file:line`, or the name of the setting if the error does not contain it.
 */
export const DatabaseOpenError: ErrorClass<{ path: string; at: string }> = errorClass(
  "KW_DATABASE_OPEN",
  ({ path, at }) => ({
    text: `${path}: the function ${at.includes(":") ? `that opens the database failed at ${at}` : `\`${at}\` failed`}`,
    remedy: "correct it as the cause says. It must return what `openKv` returns",
  }),
);
export type DatabaseOpenError = InstanceType<typeof DatabaseOpenError>;

/** A configuration without the setting `adopt`, which `keywright adopt` needs. */
export const AdoptUnsetError: ErrorClass<{ path: string }> = errorClass(
  "KW_ADOPT_UNSET",
  ({ path }) => ({
    text: `${path}: the setting \`adopt\` is missing`,
    remedy:
      'add `adopt: { from: () => openKv("data/old"), models: { users: kvdexLayout(…) } }` (see `npx keywright adopt --help`)',
  }),
);
export type AdoptUnsetError = InstanceType<typeof AdoptUnsetError>;

/**
 * Code of the project that threw an error while a command used it, for example a database that the
 * configuration wraps. `at` is the line that threw, as `file:line`.
 */
export const ProjectCodeError: ErrorClass<{ at: string }> = errorClass(
  "KW_PROJECT_CODE",
  ({ at }) => ({
    text: `${at}: the project's own code threw an error`,
    remedy: "correct this line, or what it uses, as the cause says",
  }),
);
export type ProjectCodeError = InstanceType<typeof ProjectCodeError>;

/**
 * A process that ended before its command did, because a module called `process.exit` or awaits a
 * promise that never settles.
 */
export const CommandUnfinishedError: ErrorClass<object> = errorClass(
  "KW_COMMAND_UNFINISHED",
  () => ({
    text: "the process ended before the command did",
    remedy:
      "look for `process.exit`, or an `await` that never ends, in the configuration and the modules of models. What was done until then stays",
  }),
);
export type CommandUnfinishedError = InstanceType<typeof CommandUnfinishedError>;

/**
 * A `keywright.lock.json` that cannot be read, was written by a later version, or is something
 * else.
 */
export const LockFileError: ErrorClass<{ path: string; reason: string }> = errorClass(
  "KW_LOCK_FILE",
  ({ path, reason }) => ({
    text: `${path}: ${reason}`,
    remedy:
      "update Keywright if a later version wrote the file, otherwise move it away and run `npx keywright generate`, which writes it again",
  }),
);
export type LockFileError = InstanceType<typeof LockFileError>;
