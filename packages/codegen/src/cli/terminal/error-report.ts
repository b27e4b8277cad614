import { ProjectCodeError } from "../../errors/codegen-errors.js";
import { InternalError, PermissionMissingError } from "../../errors/command-errors.js";
import { userErrorPlace } from "../../project/config/load-module.js";
import { remedyFor } from "./text/remedies.js";

/** An error as data: what `--json` prints under `error`, and what a tool of `mcp` returns. */
export interface ErrorReport {
  /** The code, such as `KW_CONFIG_MISSING`. It never changes its meaning. */
  readonly code: string;
  /** What happened, to which thing. */
  readonly message: string;
  /** What to do. */
  readonly remedy: string;
  /** The fields of the error, `retryable` if it is true, and the `cause`. */
  readonly details: Readonly<Record<string, unknown>>;
}

/** The error may come from another copy of Keywright, so `instanceof` is not enough. */
export type CodedError = Error & { readonly code: string };

/** Fields that have no meaning for users, are shown elsewhere, or contain stored values. */
const hiddenFields: ReadonlySet<string> = new Set(
  "name code message retryable cause remedy value where issues".split(" "),
);

/** Remedies of the tools of `mcp`, where others make no sense. */
const toolRemedies: Readonly<Record<string, string>> = {
  KW_ARGUMENT_INVALID: "Correct the argument that the message names, and call the tool again.",
  KW_SELECTOR_INVALID: "Correct the argument that the message names, and call the tool again.",
  KW_QUERY_INVALID:
    "Correct the condition that the message names. The tool models lists the fields of each index.",
  KW_ROW_INVALID:
    "Correct the fields that the message names. The tool models, with the model, shows their types.",
  KW_ROW_NOT_FOUND: "Look for the row with find, or create it.",
  KW_QUERY_UNINDEXED:
    "Use conditions on the first fields of an index, as the tool models lists them. Or add the index that the message names to the model, and run `npx keywright migrate run`.",
  KW_INDEX_UNKNOWN: "Name an index that the tool models lists, or leave index out.",
  KW_READ_LIMIT:
    "Lower take, or narrow where by the fields of an index: the tool explain, with take, says how many reads a query needs. If it has to read more, raise maxReads.",
  KW_CURSOR_INVALID:
    "Pass the cursor of the last answer with the same arguments, or leave it out for the first page.",
};

/**
 * Describes an error as data. An error that has no code of Keywright is one of the project's code,
 * a permission that Deno refuses, or a fault in the command itself.
 *
 * @param isOfTool true for a tool of `mcp`. Its details include what the schema says of each value.
 */
export function errorReport(thrown: unknown, isOfTool = false): ErrorReport {
  const error = codedError(thrown);
  const { code, message, cause } = error;
  const {
    remedy: own,
    retryable,
    issues,
  } = error as { remedy?: unknown; retryable?: unknown; issues?: unknown };
  const known = (isOfTool ? toolRemedy(error) : undefined) ?? remedyFor(error);
  // The issues of a row are those of its cause.
  const hasIssues = isOfTool && Array.isArray(issues);
  const stated = typeof own === "string" ? own : undefined;
  return {
    code,
    message: stated === undefined ? message : message.slice(0, -stated.length - 2),
    remedy: known ?? stated ?? `To read about this error: npx keywright docs ${code}`,
    details: {
      ...Object.fromEntries(shownFields(error)),
      ...(hasIssues && { issues: issues.map(issueOf) }),
      ...(retryable === true && { retryable }),
      ...(cause !== undefined && !hasIssues && { cause: causeOf(cause) }),
    },
  };
}

function toolRemedy(error: CodedError): string | undefined {
  const { code, operation } = error as CodedError & { readonly operation?: unknown };
  const isOfOneRow = operation === "update" || operation === "delete";
  if (code === "KW_QUERY_UNINDEXED" && isOfOneRow)
    return "Name the row by its primary key, or by all fields of a unique index. The tool find returns them.";
  return toolRemedies[code];
}

/** Returns an error with a code of Keywright: the error itself, or one with it as the cause. */
export function codedError(thrown: unknown): CodedError {
  if (isCoded(thrown)) return thrown;
  const place = userErrorPlace(thrown);
  if (place !== undefined) return new ProjectCodeError({ at: place }, thrown);
  // Deno names the missing permission and its option.
  if (thrown instanceof Error && thrown.name === "NotCapable")
    return new PermissionMissingError({ reason: thrown.message });
  return new InternalError({}, thrown);
}

export function isCoded(error: unknown): error is CodedError {
  return (
    error instanceof Error &&
    "code" in error &&
    typeof error.code === "string" &&
    error.code.startsWith("KW_")
  );
}

/** Returns the fields of an error that users may see, with their values. */
export function shownFields(error: CodedError): [string, unknown][] {
  return Object.entries(error).filter(
    ([field, value]) => !hiddenFields.has(field) && value !== undefined && value !== "",
  );
}

function issueOf({ path, message }: { readonly path?: readonly unknown[]; message?: unknown }) {
  return { path: (path ?? []).map(String).join("."), message };
}

function causeOf(cause: unknown): object {
  if (!(cause instanceof Error)) return { message: String(cause) };
  const { name, message } = cause;
  if (!isCoded(cause)) return { name, message: message.trim() };
  return { name, code: cause.code, message, ...Object.fromEntries(shownFields(cause)) };
}
