import { escapeJson } from "../../inspect/entries/escape-controls.js";
import { wordOf } from "../../inspect/entries/value-token.js";
import { type ErrorReport, errorReport } from "./error-report.js";
import type { Terminal } from "./terminal.js";
import { withoutSecrets } from "./text/without-secrets.js";

/**
 * Writes the result of a command as one JSON document: `{"result": …}`. Values that JSON cannot
 * represent become objects, which no string can be confused with: `{"$": "1n"}` for a bigint,
 * `{"$": "b64:…"}` for bytes, `{"$": "NaN"}` and the like for numbers. Dates become strings in ISO
 * 8601, and undefined is left out.
 *
 * @param error an error after which a part of the work was done: `{"result": …, "error": …}`.
 */
export function writeJson({ stdout }: Terminal, result: unknown, error?: ErrorReport): void {
  stdout.write(`${jsonText({ result, error: error && safeReport(error) }, 2)}\n`);
}

/** Writes a result on one line, for commands that write several, or continue after it. */
export function writeJsonLine(
  { stdout }: Terminal,
  result: unknown,
  onWritten?: (error?: Error | null) => void,
): void {
  stdout.write(`${jsonText({ result })}\n`, onWritten);
}

/** Returns the text of a failure on one line: `{"error": …}`. */
export function errorLine(error: unknown): string {
  return `${jsonText({ error: safeReport(errorReport(error)) })}\n`;
}

/**
 * Writes `{"result": [ … ]}` item by item, because the items may not fit in memory. If reading them
 * fails after the first one, the document ends with the error.
 *
 * @param write writes a part of the document, and waits for a slow reader.
 * @returns the error that the document ends with. Undefined if there was none.
 * @throws what reading the first item throws. Then nothing was written.
 */
export async function writeJsonList(
  write: (text: string) => Promise<void> | void,
  items: AsyncIterable<unknown>,
): Promise<unknown> {
  let separator = '{"result": [';
  let isBegun = false;
  let failure: unknown;
  try {
    for await (const item of items) {
      isBegun = true;
      await write(`${separator}\n  ${jsonText(item)}`);
      separator = ",";
    }
  } catch (error) {
    if (!isBegun) throw error;
    failure = error;
  }
  if (!isBegun) await write(`${separator}]}\n`);
  else if (failure === undefined) await write("\n]}\n");
  else await write(`\n], ${errorLine(failure).slice(1)}`);
  return failure;
}

export function jsonText(value: unknown, space?: number): string {
  return escapeJson(JSON.stringify(value, jsonValue, space));
}

/** `toJSON` of a `Date` or `Buffer` has already replaced `value`, but not `this[name]`. */
function jsonValue(this: Readonly<Record<string, unknown>>, name: string, value: unknown): unknown {
  const word = wordOf(this[name]);
  return word === undefined ? value : { $: word };
}

/**
 * Returns the JSON of an error without passwords and tokens. They have no character that JSON
 * writes in another way.
 */
export function safeReport(report: ErrorReport): object {
  return JSON.parse(withoutSecrets(JSON.stringify(report, jsonValue)));
}
