import { coreErrorCodes } from "@keywright/core";
import { InternalError, PermissionMissingError } from "../../errors/command-errors.js";
import { escapeControls } from "../../inspect/entries/escape-controls.js";
import { type CodedError, codedError, isCoded, shownFields } from "./error-report.js";
import { styled, type Terminal, withShownPaths } from "./terminal.js";
import { remedyFor } from "./text/remedies.js";
import { withoutSecrets } from "./text/without-secrets.js";
import { writeText } from "./text/wrap.js";
import { errorLine } from "./write-json.js";

/** Thrown after an error that has been reported already, so that the command only ends. */
export class ReportedError extends Error {}

/**
 * Prints an error to standard error: its code, message, cause and remedy, and the fields that the
 * message does not contain. For a permission that Deno refuses, prints Deno's message. For a fault
 * in the program, prints its stack. With `--json`, prints a document to standard output instead.
 */
export function reportError(thrown: unknown, terminal: Terminal): void {
  if (thrown instanceof ReportedError) return;
  const { stderr, stdout, isJson } = terminal;
  if (isJson) {
    stdout.write(errorLine(thrown));
    return;
  }
  const label = styled(stderr, "red", "error");
  const error = codedError(thrown);
  if (error instanceof PermissionMissingError) {
    writeText(stderr, `${label} ${error.reason}`);
    return;
  }
  if (error instanceof InternalError) {
    const stack = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
    stderr.write(
      `${label} This is a fault in keywright itself. Please report it:\n${escapeControls(withoutSecrets(stack), false)}\n`,
    );
    return;
  }
  const remedy = remedyFor(error);
  const lines = [
    `${label} ${styled(stderr, "bold", error.code)}: ${error.message}`,
    ...fieldLines(error),
    ...causeLines(error.cause),
    ...(remedy === undefined ? [] : ["", remedy]),
  ];
  writeText(stderr, withShownPaths(terminal, withoutSecrets(lines.join("\n"))));
}

function fieldLines(error: CodedError): string[] {
  const message = error.message.toLowerCase();
  // Messages of core contain all fields except keys.
  const isCore = (coreErrorCodes as readonly string[]).includes(error.code);
  return shownFields(error).flatMap(([field, value]) => {
    const parts = (Array.isArray(value) && value.length > 0 ? value : [value]).map(valueText);
    const isStated = parts.every((part) => containsWord(message, part.toLowerCase()));
    const isShown = isCore ? value instanceof Uint8Array : !isStated;
    return isShown ? [`  ${field}: ${valueText(value)}`] : [];
  });
}

/** True if a text contains a word that is not a part of a longer word. */
function containsWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    const around = [text[at - 1] ?? "", text[at + word.length] ?? ""];
    if (!around.some((character) => /[\p{L}\p{N}_]/u.test(character))) return true;
  }
  return false;
}

function valueText(value: unknown): string {
  if (typeof value === "string") return value;
  if (value instanceof Uint8Array) return `bytes ${Buffer.from(value).toString("hex")}`;
  if (Array.isArray(value)) return value.length === 0 ? "none" : value.map(valueText).join(", ");
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function causeLines(cause: unknown): string[] {
  if (cause === undefined) return [];
  if (!(cause instanceof Error)) return [`  cause: ${String(cause)}`];
  const code = isCoded(cause) ? ` ${cause.code}` : "";
  const [first, ...rest] = cause.message.trim().split("\n");
  const lines = [`  cause: ${cause.name}${code}: ${first}`, ...rest.map((line) => `    ${line}`)];
  return [...lines, ...(isCoded(cause) ? fieldLines(cause).map((line) => `  ${line}`) : [])];
}
