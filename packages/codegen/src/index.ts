export {
  AdoptUnsetError,
  CodegenError,
  CommandUnfinishedError,
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
  ProjectCodeError,
  ProjectConfiguredError,
  ProjectFileError,
  RelationInvalidError,
  TsconfigInvalidError,
  TypeInexpressibleError,
} from "./errors/codegen-errors.js";
export {
  type CodegenErrorCode,
  codegenErrorMessages,
  codegenErrorRemedies,
} from "./errors/codes.js";
export {
  EntryMissingError,
  FileFailedError,
  ImportLineError,
  ImportRefusedError,
  KeyNotationError,
} from "./errors/inspect-errors.js";
export { type AdoptConfig, type Config, defineConfig } from "./project/config.js";
