import { AmbiguousCommitError, EngineUnavailableError } from "../../../errors/core-errors.js";
import type { Unanswered } from "./pending-calls.js";

const remedies = {
  gone: "Start it again, or close this database and open it again",
  silent:
    "It may be stopped, in a debugger, or busy with one long task: let it continue, or end it",
  slow: "Look for what slows its disk or its machine down, and repeat the call",
};

/** Returns the error of a call without an answer. A commit that was sent may have been made. */
export function unansweredError(
  { call, wasSent, waited, owner }: Unanswered,
  pid: number | undefined,
  cause?: Error,
): Error {
  const name = ownerName(pid);
  if (call === "commit" && wasSent) return new AmbiguousCommitError(waited, cause, name);
  const reason =
    owner === "gone" ? `${name} does not answer` : `${name} did not answer within ${waited} ms`;
  return new EngineUnavailableError(reason, remedies[owner], cause);
}

/** Returns how an error names the owner of a database. */
export function ownerName(pid: number | undefined): string {
  if (pid === process.pid) return "the thread of this process that owns it";
  return `the process that owns it${pid === undefined ? "" : ` (${pid})`}`;
}

export function versionError(): EngineUnavailableError {
  return new EngineUnavailableError(
    "the process that owns it has another version of Keywright",
    "Use the same version in both",
  );
}
