import type { StudioError } from "../../src/protocol/studio-error.js";

/** An answer of the server that is an error. */
export class CallError extends Error {
  readonly details: StudioError;

  constructor(details: StudioError) {
    super(details.message);
    this.name = "CallError";
    this.details = details;
  }
}

/** Returns the details of anything that was thrown. */
export function errorDetails(error: unknown): StudioError {
  if (error instanceof CallError) return error.details;
  return plainError(error instanceof Error ? error.message : String(error));
}

/** Returns an error that has only a message. */
export function plainError(message: string): StudioError {
  return { code: null, message, issues: [], damagedKey: null, owner: null };
}
