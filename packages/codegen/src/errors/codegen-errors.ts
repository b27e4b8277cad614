import { KeywrightError, type KeywrightErrorOptions } from "@keywright/core";
import {
  type CodegenErrorCode,
  codegenErrorMessages,
  codegenErrorRemedies,
  importMissingRemedy,
} from "./codes.js";

/** The base class of this package's errors. */
export class CodegenError extends KeywrightError {
  /** Tells the user what to do about the error. The command prints it below the error. */
  readonly remedy: string;

  constructor(
    code: CodegenErrorCode,
    options?: KeywrightErrorOptions,
    remedy: string = codegenErrorRemedies[code],
  ) {
    super(code, codegenErrorMessages[code], options);
    this.remedy = remedy;
  }
}

/** No configuration file was found. */
export class ConfigMissingError extends CodegenError {
  /** The absolute paths that were tried. */
  readonly tried: readonly string[];

  constructor(tried: readonly string[]) {
    super("KW_CONFIG_MISSING");
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
    super("KW_CONFIG_INVALID");
    this.path = path;
    this.at = at;
    this.reason = reason;
  }
}

/** A file that the configuration names and that does not exist. */
export class ModuleMissingError extends CodegenError {
  readonly path: string;

  constructor(path: string) {
    super("KW_MODULE_MISSING");
    this.path = path;
  }
}

/**
 * A module that threw an error or has a syntax error. It is the configuration, a module of models
 * or a module that one of these imports.
 */
export class ModuleFailedError extends CodegenError {
  /** The module that was to be loaded. */
  readonly path: string;
  /**
   * The line that failed, as `file:line`, in this module or in one that it imports. Undefined if
   * the error does not contain it.
   */
  readonly at: string | undefined;

  constructor(path: string, at: string | undefined, cause: unknown) {
    super("KW_MODULE_FAILED", { cause }, isImportMissing(cause) ? importMissingRemedy : undefined);
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
    super("KW_TSCONFIG_INVALID", { cause });
    this.path = path;
  }
}

/** Patterns of the configuration that match no file. */
export class ModelsUnmatchedError extends CodegenError {
  readonly patterns: readonly string[];
  /** The folder that the patterns are relative to. */
  readonly folder: string;

  constructor(patterns: readonly string[], folder: string) {
    super("KW_MODELS_UNMATCHED");
    this.patterns = patterns;
    this.folder = folder;
  }
}

/** A module that exports no model. */
export class ModuleWithoutModelError extends CodegenError {
  readonly path: string;
  /** The names of its exports. */
  readonly exports: readonly string[];

  constructor(path: string, exports: readonly string[]) {
    super("KW_MODULE_WITHOUT_MODEL");
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
    super("KW_MODEL_DUPLICATE");
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
    super("KW_NAME_COLLISION");
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
    super("KW_NAME_UNUSABLE");
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
    super("KW_RELATION_INVALID");
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
    super("KW_TYPE_INEXPRESSIBLE", { cause });
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
    super("KW_OUTPUT_OCCUPIED");
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
    super("KW_OUTPUT_FAILED", { cause });
    this.path = path;
  }
}

/** A project that already has a configuration when `keywright init` runs. Nothing was written. */
export class ProjectConfiguredError extends CodegenError {
  /** The configuration file. */
  readonly path: string;

  constructor(path: string) {
    super("KW_PROJECT_CONFIGURED");
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
    super("KW_PROJECT_FILE", { cause });
    this.path = path;
  }
}

/** A configuration that lacks the database that a command needs. */
export class DatabaseUnsetError extends CodegenError {
  /** The configuration file. */
  readonly path: string;
  /** The name of the missing setting. */
  readonly at: string;

  constructor(path: string, at: string) {
    super("KW_DATABASE_UNSET");
    this.path = path;
    this.at = at;
  }
}

/** A function of the configuration that threw an error or did not return a database. */
export class DatabaseOpenError extends CodegenError {
  /** The configuration file. */
  readonly path: string;
  /**
   * The line that failed, as `file:line`. If the error does not contain it, the name of the
   * setting.
   */
  readonly at: string;

  constructor(path: string, at: string, cause: unknown) {
    super("KW_DATABASE_OPEN", { cause });
    this.path = path;
    this.at = at;
  }
}

/** A configuration without the setting `adopt`, which `keywright adopt` needs. */
export class AdoptUnsetError extends CodegenError {
  /** The configuration file. */
  readonly path: string;

  constructor(path: string) {
    super("KW_ADOPT_UNSET");
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
    super("KW_PROJECT_CODE", { cause });
    this.at = at;
  }
}

/**
 * A process that ended before its command did, because a module called `process.exit` or awaits a
 * promise that never settles.
 */
export class CommandUnfinishedError extends CodegenError {
  constructor() {
    super("KW_COMMAND_UNFINISHED");
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
    super("KW_LOCK_FILE", { cause });
    this.path = path;
    this.reason = reason;
  }
}
