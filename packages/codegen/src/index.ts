export * from "./errors/codegen-errors.js";
export { type CodegenErrorCode, codegenErrorCodes } from "./errors/codes.js";
export * from "./errors/inspect-errors.js";
export { type AdoptConfig, type Config, defineConfig } from "./project/config.js";
