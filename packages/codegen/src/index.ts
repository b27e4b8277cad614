export {
  CodegenError,
  ConfigInvalidError,
  ConfigMissingError,
  DatabaseOpenError,
  DatabaseUnsetError,
  LockFileError,
  ModelDuplicateError,
  ModelsUnmatchedError,
  ModuleFailedError,
  ModuleMissingError,
  ModuleWithoutModelError,
  NameCollisionError,
  NameUnusableError,
  OutputFailedError,
  OutputOccupiedError,
  TypeInexpressibleError,
} from "./errors/codegen-errors.js";
export {
  type CodegenErrorCode,
  codegenErrorMessages,
  codegenErrorRemedies,
} from "./errors/codes.js";
export { type AdoptConfig, type Config, defineConfig } from "./generate/config.js";
