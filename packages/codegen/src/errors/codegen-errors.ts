import { KeywrightError, type KeywrightErrorOptions } from "@keywright/core";
import type { CodegenErrorCode } from "./codes.js";

/** The base class of this package's errors. The message says what is wrong and what to do. */
export class CodegenError extends KeywrightError {
  constructor(code: CodegenErrorCode, message: string, options?: KeywrightErrorOptions) {
    super(code, message, options);
  }
}

/** No configuration file was found. */
export class ConfigMissingError extends CodegenError {
  /** The absolute paths that were tried. */
  readonly tried: readonly string[];

  constructor(tried: readonly string[]) {
    const files = tried.join(", ");
    super(
      "KW_CONFIG_MISSING",
      `there is no configuration file (tried ${files}); create one with \`npx keywright init\`, or name another file with --config`,
    );
    this.tried = tried;
  }
}

/**
 * A configuration that does not have the shape that `defineConfig` takes. `at` is the place in it.
 */
export class ConfigInvalidError extends CodegenError {
  readonly path: string;
  readonly at: string;
  readonly reason: string;

  constructor(path: string, at: string, reason: string) {
    const place = at === "default" ? "default export" : at;
    super(
      "KW_CONFIG_INVALID",
      `${path}: ${place}: ${reason}; the file must export \`defineConfig({ models: "src/models/*.ts", output: "src/db" })\` as default`,
    );
    this.path = path;
    this.at = at;
    this.reason = reason;
  }
}

/** A path in `models` of the configuration that is not a file. */
export class ModuleMissingError extends CodegenError {
  readonly path: string;

  constructor(path: string) {
    super(
      "KW_MODULE_MISSING",
      `${path}: this path in \`models\` is not a file; write a path or a pattern such as "src/models/*.ts", relative to the configuration file`,
    );
    this.path = path;
  }
}

/**
 * A module that threw an error or has a syntax error. It is the configuration, a module of models
 * or a module that one of these imports.
 */
export class ModuleFailedError extends CodegenError {
  readonly path: string;
  /**
   * The line that failed, as `file:line`, in this module or in one that it imports. Undefined if
   * the error does not contain it.
   */
  readonly at: string | undefined;

  constructor(path: string, at: string | undefined, cause: unknown) {
    const place = at === undefined ? "" : ` at ${at}`;
    const action = isImportMissing(cause)
      ? "correct the import that the cause names: install the package, or add a path alias to `paths` of tsconfig.json"
      : "correct it as the cause says. The module must load without a database and without arguments";
    super("KW_MODULE_FAILED", `${path}: loading the module failed${place}; ${action}`, { cause });
    this.path = path;
    this.at = at;
  }
}

function isImportMissing(cause: unknown): boolean {
  const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
  return code === "MODULE_NOT_FOUND" || code === "ERR_MODULE_NOT_FOUND";
}

/**
 * A `tsconfig.json` whose path aliases cannot be read, for example because it extends a file that
 * does not exist.
 */
export class TsconfigInvalidError extends CodegenError {
  readonly path: string;

  constructor(path: string, cause: unknown) {
    super(
      "KW_TSCONFIG_INVALID",
      `${path}: what it extends cannot be read; correct \`extends\` as the cause says, or install the package that it names`,
      { cause },
    );
    this.path = path;
  }
}

/** Patterns of the configuration that match no file. */
export class ModelsUnmatchedError extends CodegenError {
  readonly patterns: readonly string[];
  /** The folder that the patterns are relative to. */
  readonly folder: string;

  constructor(patterns: readonly string[], folder: string) {
    super(
      "KW_MODELS_UNMATCHED",
      `models: no file matches ${patterns.join(", ")}; correct the pattern, which is relative to ${folder}`,
    );
    this.patterns = patterns;
    this.folder = folder;
  }
}

/** A module that exports no model. */
export class ModuleWithoutModelError extends CodegenError {
  readonly path: string;
  readonly exports: readonly string[];

  constructor(path: string, exports: readonly string[]) {
    const others = exports.length === 0 ? "" : `, only ${exports.join(", ")}`;
    super(
      "KW_MODULE_WITHOUT_MODEL",
      `${path}: the module exports no model${others}; export what \`defineModel\` returns, or exclude the module from \`models\`, as with "!src/models/shared.ts"`,
    );
    this.path = path;
    this.exports = exports;
  }
}

/** Two models with the same name, which would store their rows in the same place. */
export class ModelDuplicateError extends CodegenError {
  readonly model: string;
  readonly first: string;
  readonly second: string;

  constructor(model: string, first: string, second: string) {
    super(
      "KW_MODEL_DUPLICATE",
      `${model}: two models have this name, ${first} and ${second}; give one of them another name`,
    );
    this.model = model;
    this.first = first;
    this.second = second;
  }
}

/** A name that two things would have in the generated code. `first` and `second` describe them. */
export class NameCollisionError extends CodegenError {
  readonly generatedName: string;
  readonly first: string;
  readonly second: string;

  constructor(generatedName: string, first: string, second: string) {
    super(
      "KW_NAME_COLLISION",
      `${generatedName}: two things would have this name in the generated code: ${first}, and ${second}; rename one of them`,
    );
    this.generatedName = generatedName;
    this.first = first;
    this.second = second;
  }
}

/** A name from which no identifier can be made. `at` describes what has the name. */
export class NameUnusableError extends CodegenError {
  readonly givenName: string;
  readonly at: string;

  constructor(givenName: string, at: string) {
    super(
      "KW_NAME_UNUSABLE",
      `${JSON.stringify(givenName)}: no identifier can be made from this name (${at}); its letters and digits must begin with a letter`,
    );
    this.givenName = givenName;
    this.at = at;
  }
}

/**
 * A relation that does not fit the models of the project: no database can be opened with these
 * models. `at` is its place in the model.
 */
export class RelationInvalidError extends CodegenError {
  readonly model: string;
  readonly at: string;
  readonly reason: string;
  /** The export that defines the model, as in `Post in src/models/post.ts`. */
  readonly origin: string | undefined;

  constructor(model: string, at: string, reason: string, origin: string | undefined) {
    const source = origin === undefined ? "" : ` (${origin})`;
    super("KW_RELATION_INVALID", `${model}: ${at}${source}: ${reason}`);
    this.model = model;
    this.at = at;
    this.reason = reason;
    this.origin = origin;
  }
}

/** A part of a model's schema for which no type can be generated. */
export class TypeInexpressibleError extends CodegenError {
  readonly model: string;
  /** The path from the schema to the part, as in `address.lines`. */
  readonly path: string;
  readonly reason: string;

  constructor(model: string, path: string, reason: string, cause?: unknown) {
    const place = path === "" ? "its schema" : `field ${path} of its schema`;
    super(
      "KW_TYPE_INEXPRESSIBLE",
      `${model}: no type can be generated for ${place}: ${reason}; change this part of the schema`,
      { cause },
    );
    this.model = model;
    this.path = path;
    this.reason = reason;
  }
}

/**
 * A file in the output folder that was not generated but has the name of a generated file. It was
 * left as it is.
 */
export class OutputOccupiedError extends CodegenError {
  readonly path: string;

  constructor(path: string) {
    super(
      "KW_OUTPUT_OCCUPIED",
      `${path}: the file was not generated but has the name of a generated file; move it away, or set \`output\` to another folder`,
    );
    this.path = path;
  }
}

/**
 * A failure of the file system in the output folder. No file is half-written, but files before
 * `path` may have been replaced already.
 */
export class OutputFailedError extends CodegenError {
  readonly path: string;

  constructor(path: string, cause: unknown) {
    super(
      "KW_OUTPUT_FAILED",
      `${path}: the path cannot be read or written; \`output\` must be a folder that you may write to`,
      { cause },
    );
    this.path = path;
  }
}

/** A project that already has a configuration when `keywright init` runs. Nothing was written. */
export class ProjectConfiguredError extends CodegenError {
  readonly path: string;

  constructor(path: string) {
    super(
      "KW_PROJECT_CONFIGURED",
      `${path}: the project already has a configuration; run \`npx keywright generate\`, or move the file away to start again`,
    );
    this.path = path;
  }
}

/**
 * A file of the project that cannot be read, written or watched, or whose contents are invalid. No
 * file is half-written.
 */
export class ProjectFileError extends CodegenError {
  readonly path: string;

  constructor(path: string, cause: unknown) {
    super(
      "KW_PROJECT_FILE",
      `${path}: the file cannot be read, written or watched, or its contents are not valid; correct it as the cause says, and run the command again`,
      { cause },
    );
    this.path = path;
  }
}

/** A configuration that lacks the database that a command needs. */
export class DatabaseUnsetError extends CodegenError {
  readonly path: string;
  readonly at: string;

  constructor(path: string, at: string) {
    super(
      "KW_DATABASE_UNSET",
      `${path}: the setting \`${at}\` is missing, so no database can be opened; add \`${at}: () => openKv("data/app")\`, with \`openKv\` from @keywright/core`,
    );
    this.path = path;
    this.at = at;
  }
}

/** The command `copy` has no source. */
export class CopyUnsetError extends CodegenError {
  readonly path: string;

  constructor(path: string) {
    super(
      "KW_COPY_UNSET",
      `${path}: the setting \`copy.from\` is missing; add \`copy: { from: () => openKv("data/old") }\`, or name the databases as in \`npx keywright copy data/old data/new\``,
    );
    this.path = path;
  }
}

/** A file of Deno KV or a URL that this runtime cannot open. */
export class DenoKvMissingError extends CodegenError {
  readonly place: string;

  constructor(place: string, runtime: "node" | "deno") {
    const remedy =
      runtime === "deno"
        ? "run Deno with --unstable-kv"
        : "install it with `npm install @deno/kv`, or run the command in Deno";
    super(
      "KW_DENO_KV_MISSING",
      `${place}: a file or URL is opened with Deno KV, which is not available here; ${remedy}. A Keywright database is a folder`,
    );
    this.place = place;
  }
}

/** The URL of a database on a server for which the project has no engine. */
export class EngineMissingError extends CodegenError {
  readonly packageName: string;

  constructor(packageName: string) {
    super(
      "KW_ENGINE_MISSING",
      `This needs the package ${packageName}, which the project does not have; install it with \`npm install ${packageName}\``,
    );
    this.packageName = packageName;
  }
}

/** A function of the configuration that threw an error or did not return a database. */
export class DatabaseOpenError extends CodegenError {
  readonly path: string;
  /**
   * The line that failed, as `file:line`. If the error does not contain it, the name of the
   * setting.
   */
  readonly at: string;

  constructor(path: string, at: string, cause: unknown) {
    const place = at.includes(":") ? `that opens the database failed at ${at}` : `\`${at}\` failed`;
    super(
      "KW_DATABASE_OPEN",
      `${path}: the function ${place}; correct it as the cause says. It must return what \`openKv\` returns`,
      { cause },
    );
    this.path = path;
    this.at = at;
  }
}

/** A configuration without the setting `adopt`, which `keywright adopt` needs. */
export class AdoptUnsetError extends CodegenError {
  readonly path: string;

  constructor(path: string) {
    super(
      "KW_ADOPT_UNSET",
      `${path}: the setting \`adopt\` is missing; add \`adopt: { from: () => openKv("data/old"), models: { users: kvdexLayout(…) } }\` (see \`npx keywright adopt --help\`)`,
    );
    this.path = path;
  }
}

/**
 * Code of the project that threw an error while a command used it, for example a database that the
 * configuration wraps.
 */
export class ProjectCodeError extends CodegenError {
  /** The line that threw, as `file:line`. */
  readonly at: string;

  constructor(at: string, cause: unknown) {
    super(
      "KW_PROJECT_CODE",
      `${at}: the project's own code threw an error; correct this line, or what it uses, as the cause says`,
      { cause },
    );
    this.at = at;
  }
}

/**
 * A process that ended before its command did, because a module called `process.exit` or awaits a
 * promise that never settles.
 */
export class CommandUnfinishedError extends CodegenError {
  constructor() {
    super(
      "KW_COMMAND_UNFINISHED",
      "the process ended before the command did; look for `process.exit`, or an `await` that never ends, in the configuration and the modules of models. What was done until then stays",
    );
  }
}

/**
 * A `keywright.lock.json` that cannot be read, was written by a later version, or is something
 * else.
 */
export class LockFileError extends CodegenError {
  readonly path: string;
  readonly reason: string;

  constructor(path: string, reason: string, cause?: unknown) {
    super(
      "KW_LOCK_FILE",
      `${path}: ${reason}; update Keywright if a later version wrote the file, otherwise move it away and run \`npx keywright generate\`, which writes it again`,
      { cause },
    );
    this.path = path;
    this.reason = reason;
  }
}
