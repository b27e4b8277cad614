import { EngineFailedError } from "../../errors/core-errors.js";

/** Converts an error of the operating system. Returns other errors as they are. */
export function systemFailure(
  error: unknown,
  operation: EngineFailedError["operation"],
  folder: string,
): unknown {
  const isOfSystem = error instanceof Error && "syscall" in error;
  return isOfSystem ? new EngineFailedError(error, operation, folder) : error;
}
