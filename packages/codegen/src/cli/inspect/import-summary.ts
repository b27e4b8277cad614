import { formatKey } from "../../inspect/entries/format-key.js";
import type { ImportResult } from "../../inspect/transfer/import-entries.js";
import { styled, type Terminal } from "../terminal/terminal.js";

/** Returns lines about what was imported or, in a dry run, would be. */
export function importSummary(
  { stdout }: Terminal,
  result: ImportResult,
  isDryRun: boolean | undefined,
): string[] {
  const { created, replaced, unchanged, expired, refused, refusedKeys, ending } = result;
  const would = isDryRun ? "would be " : "";
  const parts = [
    `${counted(created, "entry", "entries")} ${would}created`,
    ...(replaced > 0 ? [`${formatCount(replaced)} ${would}replaced`] : []),
    ...(unchanged > 0 ? [`${formatCount(unchanged)} there already`] : []),
    ...(expired > 0 ? [`${formatCount(expired)} left out, whose time is over`] : []),
  ];
  const more = refused - refusedKeys.length;
  return [
    `${parts.join(", ")}.`,
    ...(refused === 0
      ? []
      : [
          styled(
            stdout,
            "yellow",
            `${counted(refused, "entry", "entries")} ${would}refused, for something else is under the same ${refused === 1 ? "key" : "keys"}:`,
          ),
          ...refusedKeys.map((key) => `  ${formatKey(key)}`),
          ...(more > 0 ? [`  and ${formatCount(more)} more`] : []),
          "It stays as it is. With --overwrite it is replaced.",
        ]),
    ...(ending === "stopped"
      ? ["Stopped before the end: run the command again, and it goes on."]
      : []),
  ];
}

function counted(count: number, one: string, many: string): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

function formatCount(count: number): string {
  return count.toLocaleString("en-US");
}
