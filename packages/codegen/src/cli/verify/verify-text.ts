import type { EntryFinding, VerifiedModel, VerifyResult } from "@keywright/orm";
import { counted } from "../counted.js";
import { shownId, shownKeyValue } from "../shown-value.js";
import { styled, type Terminal } from "../terminal.js";
import { unindexedLines } from "../unindexed-text.js";

/** So many findings of a model are shown. */
const mostShown = 10;

/** What a verification has found, for people, and what to do next. */
export function verifyText(
  terminal: Terminal,
  { status, models }: VerifyResult,
  isRepair: boolean,
): string {
  const blocks = models.map((model) => modelLines(model).join("\n"));
  return [...blocks, endText(terminal, status, models, isRepair)].join("\n");
}

function modelLines(verified: VerifiedModel): string[] {
  const { model, indexes, rows, entries, findings, counts, repaired } = verified;
  const { unindexed, unindexedCount } = verified;
  if (indexes.length === 0) return [`${model}  no index to look at`];
  const kinds = Object.entries(counts).filter(([, count]) => count > 0);
  const found = [
    ...kinds.map(([kind, count]) => `${count} ${kind}`),
    ...(unindexedCount > 0 ? [`${unindexedCount} cannot be indexed`] : []),
  ].join(", ");
  const all = kinds.reduce((sum, [, count]) => sum + count, 0);
  const size = `${counted(rows, "row")}, ${counted(entries, "entry", "entries")} of ${indexes.join(", ")}`;
  const shown = findings.slice(0, mostShown);
  return [
    `${model}  ${size}: ${found === "" ? "clean" : found}${repaired > 0 ? `; ${repaired} repaired` : ""}`,
    ...shown.map(findingLine),
    ...(all > shown.length ? [`  … ${counted(all - shown.length, "more", "more")}`] : []),
    ...unindexedLines(unindexed, unindexedCount, mostShown),
  ];
}

function findingLine({ kind, index, key, primaryKey, repaired, heldBy }: EntryFinding): string {
  const row = primaryKey === null ? "" : `  row ${shownKeyValue(primaryKey)}`;
  const holder =
    heldBy === undefined
      ? ""
      : `; row ${shownKeyValue(heldBy)} has this value, and only one can have it`;
  return `  ${kind}  ${index}  ${shownId(key)}${row}${holder}${repaired ? "  repaired" : ""}`;
}

function endText(
  { stdout }: Terminal,
  status: VerifyResult["status"],
  models: readonly VerifiedModel[],
  isRepair: boolean,
): string {
  const again = `npx keywright verify${isRepair ? " --repair" : ""}`;
  switch (status) {
    case "clean":
      return `${styled(stdout, "green", "Clean.")} The indexes hold what the rows say.`;
    case "repaired":
      return `${styled(stdout, "green", "Repaired.")} The indexes hold what the rows say.`;
    case "damaged":
      return `${styled(stdout, "red", "Damaged.")} ${isRepair || !models.some(isRepairable) ? adviceText(models) : "To put it right: npx keywright verify --repair"}`;
    case "stopped":
      return `${styled(stdout, "yellow", "Stopped.")} To go on: ${again}`;
    case "busy":
      return `${styled(stdout, "yellow", "Nothing was done.")} Another run is at work: npx keywright migrate status`;
  }
}

/** Whether something is wrong that a repair puts right. */
function isRepairable({ counts, repaired, conflicts }: VerifiedModel): boolean {
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  return all > repaired + conflicts;
}

/** What to do about that which no repair puts right. */
function adviceText(models: readonly VerifiedModel[]): string {
  const advice = [
    ...(models.some(({ conflicts }) => conflicts > 0)
      ? ["change the value of one of two rows that have the same unique one"]
      : []),
    ...(models.some(({ unindexedCount }) => unindexedCount > 0)
      ? ["correct the rows that cannot be indexed, or the function of the index"]
      : []),
  ];
  return `What is left needs you: ${advice.join(", and ")}, then verify again.`;
}
