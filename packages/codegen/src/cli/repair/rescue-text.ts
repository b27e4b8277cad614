import { styled, type Terminal } from "../terminal/terminal.js";
import { counted, moreLine } from "../terminal/text/counted.js";
import { damageLine } from "../verify/verify-files.js";
import { verifyText } from "../verify/verify-text.js";
import type { RescuedModel, RescueResult } from "./rescue.js";

const maxShown = 20;

export function rescueText(terminal: Terminal, result: RescueResult): string {
  const { path, entries, damages, lostCommits, models, indexes } = result;
  const count = `${counted(entries, "entry", "entries")} rescued.`;
  return [
    ...damageLines(result),
    ...(lostCommits > 0
      ? [
          `At least ${counted(lostCommits, "commit")} of a log ${lostCommits === 1 ? "is" : "are"} gone.`,
        ]
      : []),
    ...(indexes === undefined ? [] : [verifyText(terminal, indexes, true)]),
    ...(models ?? []).map(modelLine),
    ...(models === undefined
      ? ["There is no keywright.config.ts, so no indexes were repaired."]
      : []),
    `${styled(terminal.stdout, damages.length === 0 ? "green" : "yellow", "Done.")} ${count} The database is in ${path}.`,
  ].join("\n");
}

function damageLines({ damages }: RescueResult): string[] {
  if (damages.length === 0) return [];
  return [
    "In these places, entries may be missing, old, or deleted before. Without keys, it may be any entry:",
    ...damages.slice(0, maxShown).map(damageLine),
    ...moreLine(damages.length - maxShown),
  ];
}

function modelLine({ model, rows, missingRows, mayLackRows }: RescuedModel): string {
  const missing =
    missingRows > 0
      ? `at least ${counted(missingRows, "row")} ${missingRows === 1 ? "is" : "are"} missing`
      : mayLackRows
        ? "rows may be missing"
        : "complete";
  return `${model}  ${counted(rows, "row")}: ${missing}`;
}
