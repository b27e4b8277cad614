import { coreErrorCodes } from "@keywright/core";
import { ProjectCodeError } from "../../errors/codegen-errors.js";
import { placeThrown } from "../../project/load-module.js";
import { remedyFor } from "./remedies.js";
import { styled, type Terminal, withShownPaths } from "./terminal.js";

/** Fields that are shown elsewhere or say nothing to people. */
const otherFields: ReadonlySet<string> = new Set(["name", "code", "retryable", "remedy", "cause"]);

/**
 * Writes an error for people: code, message, fields, cause and remedy for one of Keywright's, or of the project's own code; the
 * whole stack for a fault of the program.
 */
export function reportError(thrown: unknown, terminal: Terminal): void {
  const { stderr } = terminal;
  const error = isCoded(thrown) ? thrown : ofProject(thrown);
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

/** One of Keywright's errors, whichever copy of its packages made it. */
type CodedError = Error & { readonly code: string };

function isCoded(error: unknown): error is CodedError {
  return (
    error instanceof Error &&
    "code" in error &&
    typeof error.code === "string" &&
    error.code.startsWith("KW_")
  );
}

/** What the project's own code threw, as an error that says where. */
function ofProject(error: unknown): unknown {
  const place = placeThrown(error);
  return place === undefined ? error : new ProjectCodeError(place, error);
}

function remedyOf(error: CodedError): string | undefined {
  const own = "remedy" in error && typeof error.remedy === "string" ? error.remedy : undefined;
  return own ?? remedyFor(error);
}

/** The fields of an error, a line each. Messages of core state their fields themselves. */
function fieldLines(error: CodedError): string[] {
  if (statesItsFields(error)) return [];
  return Object.entries(error).flatMap(([field, value]) =>
    otherFields.has(field) || value === undefined ? [] : [`  ${field}: ${valueText(value)}`],
  );
}

function statesItsFields({ code }: CodedError): boolean {
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
