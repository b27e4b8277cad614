import { formatKey } from "../../inspect/entries/format-key.js";
import type { ImportResult } from "../../inspect/transfer/import-entries.js";
import { styled, type Terminal } from "../terminal/terminal.js";
import { counted, moreLine, shownNumber } from "../terminal/text/counted.js";

export function importSummary(
  { stdout }: Terminal,
  result: ImportResult,
  isDryRun: boolean | undefined,
): string[] {
  const { created, replaced, unchanged, expired, refused, refusedKeys, ending } = result;
  const would = isDryRun ? "would be " : "";
  const parts = [
    `${counted(created, "entry", "entries")} ${would}created`,
    ...(replaced > 0 ? [`${shownNumber(replaced)} ${would}replaced`] : []),
    ...(unchanged > 0 ? [`${shownNumber(unchanged)} unchanged`] : []),
    ...(expired > 0 ? [`${shownNumber(expired)} left out because expired`] : []),
  ];
  const heading = `${counted(refused, "entry", "entries")} ${would}refused, because the database has another value under the same key:`;
  return [
    `${parts.join(", ")}.`,
    ...(refused === 0
      ? []
      : [
          styled(stdout, "yellow", heading),
          ...refusedKeys.map((key) => `  ${formatKey(key)}`),
          ...moreLine(refused - refusedKeys.length),
          "The stored values stay as they are. To replace them, use --overwrite.",
        ]),
    ...(ending === "stopped"
      ? ["Stopped before the end. To continue, run the command again."]
      : []),
  ];
}
