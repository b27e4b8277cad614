import { formatKey } from "../../inspect/entries/format-key.js";
import type { ImportResult } from "../../inspect/transfer/import-entries.js";
import { styled, type Terminal } from "../terminal/terminal.js";

/** What was imported, or would be, for people. */
export function importSummary(
  { stdout }: Terminal,
  result: ImportResult,
  isDryRun: boolean | undefined,
): string[] {
  const { created, replaced, unchanged, expired, refused, refusedKeys, ending } = result;
  const would = isDryRun ? "would be " : "";
  const parts = [
    `${counted(created, "entry", "entries")} ${would}created`,
    ...(replaced > 0 ? [`${shown(replaced)} ${would}replaced`] : []),
    ...(unchanged > 0 ? [`${shown(unchanged)} there already`] : []),
    ...(expired > 0 ? [`${shown(expired)} left out, whose time is over`] : []),
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
          ...(more > 0 ? [`  and ${shown(more)} more`] : []),
          "It stays as it is. With --overwrite it is replaced.",
        ]),
    ...(ending === "stopped"
      ? ["Stopped before the end: run the command again, and it goes on."]
      : []),
  ];
}

function counted(count: number, one: string, many: string): string {
  return `${shown(count)} ${count === 1 ? one : many}`;
}

function shown(count: number): string {
  return count.toLocaleString("en-US");
}
