import { coreErrorCodes } from "@keywright/core";
import { ProjectCodeError } from "../../errors/codegen-errors.js";
import { userErrorPlace } from "../../project/load-module.js";
import { remedyFor } from "./remedies.js";
import { styled, type Terminal, withShownPaths } from "./terminal.js";

/** Fields that are printed elsewhere or have no value for users. */
const otherFields: ReadonlySet<string> = new Set(["name", "code", "retryable", "remedy", "cause"]);

/**
 * Prints an error. For an error of Keywright or of the project's code, prints its code, message,
 * fields, cause and remedy. Every other error is a fault in the program, so its stack is printed.
 */
export function reportError(thrown: unknown, terminal: Terminal): void {
  const { stderr } = terminal;
  const error = isCoded(thrown) ? thrown : asProjectError(thrown);
  if (!isCoded(error)) {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    stderr.write(
      `${styled(stderr, "red", "error")} This is a fault in keywright itself:\n${stack}\n`,
    );
    return;
  }
  const remedy = remedyOf(error);
  const lines = [
    `${styled(stderr, "red", "error")} ${styled(stderr, "bold", error.code)}: ${error.message}`,
    ...fieldLines(error),
    ...causeLines(error.cause),
    ...(remedy === undefined ? [] : ["", remedy]),
  ];
  stderr.write(`${withShownPaths(terminal, lines.join("\n"))}\n`);
}

/**
 * An error of Keywright. It may come from another copy of its packages, so `instanceof` is not
 * enough.
 */
type CodedError = Error & { readonly code: string };

function isCoded(error: unknown): error is CodedError {
  return (
    error instanceof Error &&
    "code" in error &&
    typeof error.code === "string" &&
    error.code.startsWith("KW_")
  );
}

/**
 * Wraps an error that the project's code threw in an error with its place. Returns other errors
 * unchanged.
 */
function asProjectError(error: unknown): unknown {
  const place = userErrorPlace(error);
  return place === undefined ? error : new ProjectCodeError(place, error);
}

function remedyOf(error: CodedError): string | undefined {
  const remedy = "remedy" in error && typeof error.remedy === "string" ? error.remedy : undefined;
  return remedy ?? remedyFor(error);
}

/**
 * Returns the fields of an error, one per line, unless its message contains them. Messages of core
 * contain all fields except keys.
 */
function fieldLines(error: CodedError): string[] {
  const isStated = hasFieldsInMessage(error);
  return Object.entries(error).flatMap(([field, value]) => {
    if (otherFields.has(field) || value === undefined) return [];
    return isStated && !(value instanceof Uint8Array) ? [] : [`  ${field}: ${valueText(value)}`];
  });
}

function hasFieldsInMessage({ code }: CodedError): boolean {
  const codes: readonly string[] = coreErrorCodes;
  return codes.includes(code);
}

function valueText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString("hex")}`;
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(valueText).join(", ");
  return JSON.stringify(value) ?? String(value);
}

function causeLines(cause: unknown): string[] {
  if (cause === undefined) return [];
  if (!(cause instanceof Error)) return [`  cause: ${String(cause)}`];
  const code = isCoded(cause) ? ` ${cause.code}` : "";
  const [first, ...rest] = cause.message.trim().split("\n");
  const lines = [`  cause: ${cause.name}${code}: ${first}`, ...rest.map((line) => `    ${line}`)];
  return [...lines, ...(isCoded(cause) ? fieldLines(cause).map((line) => `  ${line}`) : [])];
}
