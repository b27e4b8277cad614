import type { KvEntry } from "@keywright/core";
import { keyJson, valueFields } from "../../inspect/entries/entry-line.js";
import { escapeJson } from "../../inspect/entries/escape-controls.js";
import { formatKey } from "../../inspect/entries/format-key.js";
import type { LineOutput } from "../../inspect/entries/line-output.js";
import { showValueInLine } from "../../inspect/entries/show-value.js";
import { styled, type Terminal } from "../terminal/terminal.js";

interface ShownEntries {
  readonly values?: true | undefined;
  readonly most: number;
}

export async function writeLines(
  output: LineOutput,
  entries: AsyncIterable<KvEntry<unknown>>,
  { values, most }: ShownEntries,
  { stdout }: Terminal,
): Promise<{ readonly count: number; readonly hasMore: boolean }> {
  const colors = styled(stdout, "dim", "") !== "";
  let count = 0;
  for await (const { key, value } of entries) {
    if (count === most) return { count, hasMore: true };
    const text = formatKey(key);
    await output.write(values ? `${text}  ${showValueInLine(value, colors)}` : text);
    count++;
  }
  return { count, hasMore: false };
}

/** Writes one JSON array entry by entry, because the entries may not fit in memory. */
export async function writeArray(
  output: LineOutput,
  entries: AsyncIterable<KvEntry<unknown>>,
  { values }: Pick<ShownEntries, "values">,
): Promise<void> {
  let separator = "[";
  for await (const { key, value, versionstamp, expireAt } of entries) {
    const entry = {
      key: keyJson(key),
      ...(values && valueFields(value)),
      versionstamp,
      ...(expireAt !== undefined && { expireAt }),
    };
    await output.write(`${separator}\n  ${escapeJson(JSON.stringify(entry))}`);
    separator = ",";
  }
  await output.write(separator === "[" ? "[]" : "]");
}
