import { KeywrightError, type KeywrightErrorOptions } from "@keywright/core";
import {
  type CodegenErrorCode,
  codegenErrorMessages,
  codegenErrorRemedies,
  importMissingRemedy,
} from "./codes.js";

/** The base of the errors of code generation: each knows what to do about it. All but the last leave the files as they were. */
export class CodegenError extends KeywrightError {
  /** What to do about it. */
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

/** No configuration file where one was looked for. */
export class ConfigMissingError extends CodegenError {
  /** The absolute paths that were tried. */
  readonly tried: readonly string[];

  constructor(tried: readonly string[]) {
    super("KW_CONFIG_MISSING");
    this.tried = tried;
  }
}

/** A configuration of the wrong shape. `at` is the place within it. */
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

/** A path of the configuration at which there is no file. */
export class ModuleMissingError extends CodegenError {
  readonly path: string;

  constructor(path: string) {
    super("KW_MODULE_MISSING");
    this.path = path;
  }
}

/** A module that threw, or has a syntax error: the configuration, a model's module or one that they import. */
export class ModuleFailedError extends CodegenError {
  /** The module that was asked for. */
  readonly path: string;
  /** Where it failed, as `file:line`: in the module or in one that it imports. Absent where nothing says so. */
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

/** A `tsconfig.json` whose path aliases cannot be read, as where it extends a file that is not there. */
export class TsconfigInvalidError extends CodegenError {
  readonly path: string;

  constructor(path: string, cause: unknown) {
    super("KW_TSCONFIG_INVALID", { cause });
    this.path = path;
  }
}

/** A pattern that matches no file. */
export class ModelsUnmatchedError extends CodegenError {
  readonly patterns: readonly string[];
  /** The folder in which they were looked for. */
  readonly folder: string;

  constructor(patterns: readonly string[], folder: string) {
    super("KW_MODELS_UNMATCHED");
    this.patterns = patterns;
    this.folder = folder;
  }
}

/** A module of which no export is a model. */
export class ModuleWithoutModelError extends CodegenError {
  readonly path: string;
  /** What it exports instead. */
  readonly exports: readonly string[];

  constructor(path: string, exports: readonly string[]) {
    super("KW_MODULE_WITHOUT_MODEL");
    this.path = path;
    this.exports = exports;
  }
}

/** Two models of one name: they would store their rows in the same place. */
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

/** A name that two things would have in the generated code, and what the two are. */
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

/** A name from which no identifier can be made. `at` says whose it is. */
export class NameUnusableError extends CodegenError {
  readonly givenName: string;
  readonly at: string;

  constructor(givenName: string, at: string) {
    super("KW_NAME_UNUSABLE");
    this.givenName = givenName;
    this.at = at;
  }
}

/** A relation with which no database could be opened. `at` is its place within the model. */
export class RelationInvalidError extends CodegenError {
  readonly model: string;
  readonly at: string;
  readonly reason: string;
  /** Where the model was found, as `Post in src/models/post.ts`. */
  readonly origin: string | undefined;

  constructor(model: string, at: string, reason: string, origin: string | undefined) {
    super("KW_RELATION_INVALID");
    this.model = model;
    this.at = at;
    this.reason = reason;
    this.origin = origin;
  }
}

/** A part of a model's schema for which there is no type to write. */
export class TypeInexpressibleError extends CodegenError {
  readonly model: string;
  /** From the schema to the part, as in `address.lines`. */
  readonly path: string;
  readonly reason: string;

  constructor(model: string, path: string, reason: string, cause?: unknown) {
    super("KW_TYPE_INEXPRESSIBLE", { cause });
    this.model = model;
    this.path = path;
    this.reason = reason;
  }
}

/** A file in the output folder that was not generated, under the name of one that would be. It was left as it is. */
export class OutputOccupiedError extends CodegenError {
  readonly path: string;

  constructor(path: string) {
    super("KW_OUTPUT_OCCUPIED");
    this.path = path;
  }
}

/** The file system refused. Of several files, either all were replaced up to this point or none; none is half-written. */
export class OutputFailedError extends CodegenError {
  readonly path: string;

  constructor(path: string, cause: unknown) {
    super("KW_OUTPUT_FAILED", { cause });
    this.path = path;
  }
}

/** A project that is to begin and has a configuration already. Nothing was written. */
export class ProjectConfiguredError extends CodegenError {
  /** Of the configuration. */
  readonly path: string;

  constructor(path: string) {
    super("KW_PROJECT_CONFIGURED");
    this.path = path;
  }
}

/** A file of a project that is to begin which cannot be read or written, or is not what its name says. None is half-written. */
export class ProjectFileError extends CodegenError {
  readonly path: string;

  constructor(path: string, cause: unknown) {
    super("KW_PROJECT_FILE", { cause });
    this.path = path;
  }
}

/** A command that works at a database, and a configuration that names none. */
export class DatabaseUnsetError extends CodegenError {
  /** Of the configuration. */
  readonly path: string;
  /** The setting that is missing. */
  readonly at: string;

  constructor(path: string, at: string) {
    super("KW_DATABASE_UNSET");
    this.path = path;
    this.at = at;
  }
}

/** A function of the configuration that threw, or returned something else than a database. */
export class DatabaseOpenError extends CodegenError {
  /** Of the configuration. */
  readonly path: string;
  /** Where it failed, as `file:line`; the setting, where nothing says so. */
  readonly at: string;

  constructor(path: string, at: string, cause: unknown) {
    super("KW_DATABASE_OPEN", { cause });
    this.path = path;
    this.at = at;
  }
}

/** A configuration without `adopt`, and the command that needs it. */
export class AdoptUnsetError extends CodegenError {
  /** Of the configuration. */
  readonly path: string;

  constructor(path: string) {
    super("KW_ADOPT_UNSET");
    this.path = path;
  }
}

/** Code of the project's own that threw while a command used it, such as a database that the configuration wraps. */
export class ProjectCodeError extends CodegenError {
  /** Where, as `file:line`. */
  readonly at: string;

  constructor(at: string, cause: unknown) {
    super("KW_PROJECT_CODE", { cause });
    this.at = at;
  }
}

/** A process that ends while a command is at work: a module calls `process.exit`, or awaits what never comes. */
export class CommandUnfinishedError extends CodegenError {
  constructor() {
    super("KW_COMMAND_UNFINISHED");
  }
}

/** A `keywright.lock.json` that this version cannot take for its own. */
export class LockFileError extends CodegenError {
  readonly path: string;
  readonly reason: string;

  constructor(path: string, reason: string, cause?: unknown) {
    super("KW_LOCK_FILE", { cause });
    this.path = path;
    this.reason = reason;
  }
}
