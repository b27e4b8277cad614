export { CodegenError, type ErrorClass } from "./errors/codegen-error.js";
export * from "./errors/codegen-errors.js";
export { type CodegenErrorCode, codegenErrorCodes } from "./errors/codes.js";
export * from "./errors/command-errors.js";
export * from "./errors/inspect-errors.js";
export * from "./errors/seed-errors.js";
export {
  type AdoptConfig,
  type Config,
  defineConfig,
  type SeedConfig,
  type SeedField,
  type SeedFieldContext,
  type SeedFields,
  type SeedRunContext,
} from "./project/config/config.js";
