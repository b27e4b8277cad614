import { coreErrorCodes } from "@keywright/core";
import { ProjectCodeError } from "../../errors/codegen-errors.js";
import { escapeControls } from "../../inspect/entries/escape-controls.js";
import { userErrorPlace } from "../../project/config/load-module.js";
import { styled, type Terminal, withShownPaths } from "./terminal.js";
import { remedyFor } from "./text/remedies.js";
import { writeText } from "./text/wrap.js";

/** Fields that are printed elsewhere, have no meaning for users, or contain stored values. */
const hiddenFields: ReadonlySet<string> = new Set(
  "name code retryable cause value where issues".split(" "),
);

/**
 * Prints an error. For an error of Keywright or of the project's code, prints its code, message,
 * cause and remedy, and the fields that the message does not contain. For a permission that Deno
 * refuses, prints Deno's message. Every other error is a fault in the program, so its stack is
 * printed.
 */
export function reportError(thrown: unknown, terminal: Terminal): void {
  const { stderr } = terminal;
  const label = styled(stderr, "red", "error");
  const error = isCoded(thrown) ? thrown : asProjectError(thrown);
  if (isPermissionMissing(error)) {
    writeText(stderr, `${label} ${error.message}`);
    return;
  }
  if (!isCoded(error)) {
    const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
    stderr.write(
      `${label} This is a fault in keywright itself. Please report it:\n${escapeControls(stack, false)}\n`,
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
  writeText(stderr, withShownPaths(terminal, lines.join("\n")));
}

/** The error may come from another copy of Keywright, so `instanceof` is not enough. */
type CodedError = Error & { readonly code: string };

function isCoded(error: unknown): error is CodedError {
  return (
    error instanceof Error &&
    "code" in error &&
    typeof error.code === "string" &&
    error.code.startsWith("KW_")
  );
}

/** True for the error of Deno that names the missing permission and its option. */
function isPermissionMissing(error: unknown): error is Error {
  return error instanceof Error && error.name === "NotCapable";
}

function asProjectError(error: unknown): unknown {
  const place = userErrorPlace(error);
  return place === undefined ? error : new ProjectCodeError({ at: place }, error);
}

function fieldLines(error: CodedError): string[] {
  const message = error.message.toLowerCase();
  // Messages of core contain all fields except keys.
  const isCore = (coreErrorCodes as readonly string[]).includes(error.code);
  return Object.entries(error).flatMap(([field, value]: [string, unknown]) => {
    if (hiddenFields.has(field) || value === undefined || value === "") return [];
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
