import type {
  DanglingReference,
  EntryFinding,
  OutdatedCopy,
  VerifiedModel,
  WrongCounter,
} from "@keywright/orm/migrate";
import { styled, type Terminal } from "../terminal/terminal.js";
import { counted, moreLine, shownNumber } from "../terminal/text/counted.js";
import { shownId, shownKeyValue } from "../terminal/text/shown-value.js";
import { unindexedLines } from "../terminal/text/unindexed-text.js";
import { commandLine } from "../terminal/text/wrap.js";
import type { ReportedModel, VerifyReport } from "./verify-references.js";

const maxShown = 10;

const danglingAdvice = "create the missing rows, or change or delete the rows with the references";

export function verifyText(
  terminal: Terminal,
  { status, models }: VerifyReport,
  isRepair: boolean,
): string {
  const blocks = models.map((model) =>
    [
      ...modelLines(model),
      ...counterLines(model),
      ...copyLines(model),
      ...referenceLines(model),
    ].join("\n"),
  );
  return [...blocks, endText(terminal, status, models, isRepair)].join("\n");
}

function modelLines(verified: VerifiedModel): string[] {
  const { model, indexes, rows, entries, findings, counts, repaired } = verified;
  const { unindexed, unindexedCount } = verified;
  if (indexes.length === 0) return [`${model}  there is no index to check`];
  const kinds = Object.entries(counts).filter(([, count]) => count > 0);
  const found = [
    ...kinds.map(([kind, count]) => `${count} ${kind}`),
    ...(unindexedCount > 0 ? [`${unindexedCount} cannot be indexed`] : []),
  ].join(", ");
  const all = kinds.reduce((sum, [, count]) => sum + count, 0);
  const size = `${counted(rows, "row")}, ${counted(entries, "entry", "entries")} of ${indexes.join(", ")}`;
  const shown = findings.slice(0, maxShown);
  return [
    `${model}  ${size}: ${found === "" ? "clean" : found}${repaired > 0 ? `; ${repaired} repaired` : ""}`,
    ...shown.map(findingLine),
    ...moreLine(all - shown.length),
    ...unindexedLines(unindexed, unindexedCount, maxShown),
  ];
}

function findingLine({ kind, index, key, primaryKey, repaired, heldBy }: EntryFinding): string {
  const row = primaryKey === null ? "" : `  row ${shownKeyValue(primaryKey)}`;
  const holder =
    heldBy === undefined ? "" : `; row ${shownKeyValue(heldBy)} has the same unique value`;
  return `  ${kind}  ${index}  ${shownId(key)}${row}${holder}${repaired ? "  repaired" : ""}`;
}

function counterLines({ model, counters }: VerifiedModel): string[] {
  const { count, first, repaired, unchecked } = counters;
  const busy =
    unchecked === 0
      ? []
      : [`${model}  counters of ${counted(unchecked, "key")} could not be checked beside writers`];
  if (count === 0) return busy;
  const shown = first.slice(0, maxShown);
  const wrong = `${counted(count, "counter")} ${count === 1 ? "is" : "are"} wrong`;
  return [
    `${model}  ${wrong}${repaired > 0 ? "; counted again" : ""}`,
    ...shown.map(counterLine),
    ...moreLine(count - shown.length),
    ...busy,
  ];
}

function counterLine({ index, parts, sum, isRanked }: WrongCounter): string {
  if (isRanked) {
    const start = parts.length === 0 ? "the first entry" : shownId(parts);
    return `  ranks  ${index}  from ${start}`;
  }
  const of = index === undefined ? "all rows" : `${index}  ${shownId(parts)}`;
  return `  ${sum === undefined ? "count" : `sum of ${sum}`}  ${of}`;
}

function copyLines({ model, copies }: VerifiedModel): string[] {
  const { count, first, repaired } = copies;
  if (count === 0) return [];
  const shown = first.slice(0, maxShown);
  return [
    `${model}  copied fields of ${counted(count, "row")} differ${repaired > 0 ? `; ${repaired} repaired` : ""}`,
    ...shown.map(copyLine),
    ...moreLine(count - shown.length),
  ];
}

function copyLine({ id, relation, fields }: OutdatedCopy): string {
  return `  row ${shownId(id)}  ${fields.join(", ")} of ${relation}`;
}

function referenceLines({ model, references }: ReportedModel): string[] {
  if (references === undefined) return [];
  const { relations, rows, danglingCount, dangling } = references;
  const lead = danglingCount === 1 ? "leads" : "lead";
  const found = danglingCount === 0 ? "clean" : `${shownNumber(danglingCount)} ${lead} to no row`;
  const shown = dangling.slice(0, maxShown);
  return [
    `${model}  ${counted(rows, "row")}, references of ${relations.join(", ")}: ${found}`,
    ...shown.map(danglingLine),
    ...moreLine(danglingCount - shown.length),
  ];
}

function danglingLine({ id, relation, fields, target, targetId }: DanglingReference): string {
  const lead = fields.length === 1 ? "leads" : "lead";
  return `  row ${shownId(id)}  ${relation}: ${fields.join(", ")} ${shownId(targetId)} ${lead} to no row of ${target}`;
}

function endText(
  { stdout }: Terminal,
  status: VerifyReport["status"],
  models: readonly ReportedModel[],
  isRepair: boolean,
): string {
  const hasReferences = models.some(({ references }) => references !== undefined);
  const cleanText = `The indexes match the rows${hasReferences ? ", and all references lead to rows" : ""}.`;
  const command = commandLine(isRepair ? "verify --repair" : "verify");
  switch (status) {
    case "clean":
      return `${styled(stdout, "green", "Clean.")} ${cleanText}`;
    case "repaired":
      return `${styled(stdout, "green", "Repaired.")} ${cleanText}`;
    case "damaged":
      return `${styled(stdout, "red", "Damaged.")} ${isRepair || !models.some(isRepairable) ? adviceText(models) : repairText(models)}`;
    case "stopped":
      return `${styled(stdout, "yellow", "Stopped.")} To start again:\n${command}`;
    case "busy":
      return `${styled(stdout, "yellow", "Nothing was done.")} Another run is active. To see it:\n${commandLine("migrate status")}`;
  }
}

function isRepairable({ counts, repaired, conflicts, copies, counters }: VerifiedModel): boolean {
  const all = Object.values(counts).reduce((sum, count) => sum + count, 0);
  const hasOthers = copies.count > copies.repaired || counters.count > counters.repaired;
  return hasOthers || all > repaired + conflicts;
}

function isDangling({ references }: ReportedModel): boolean {
  return references !== undefined && references.danglingCount > 0;
}

function repairText(models: readonly ReportedModel[]): string {
  const repair = commandLine("verify --repair");
  if (!models.some(isDangling)) return `To repair this:\n${repair}`;
  return `To repair this:\n${repair}\nA repair does not change references: ${danglingAdvice}.`;
}

/** Returns advice about what a repair cannot fix. */
function adviceText(models: readonly ReportedModel[]): string {
  const advice = [
    ...(models.some(({ conflicts }) => conflicts > 0)
      ? ["change the value of one of two rows that share a unique value"]
      : []),
    ...(models.some(({ unindexedCount }) => unindexedCount > 0)
      ? ["correct the rows that cannot be indexed, or the function of the index"]
      : []),
    ...(models.some(({ copies }) => copies.count > copies.repaired)
      ? ["correct the references that lead to no row, then repair the copied fields again"]
      : []),
    ...(models.some(isDangling) ? [`${danglingAdvice} (--repair does not change references)`] : []),
  ];
  return [
    "Correct the rest yourself, then verify again:",
    ...advice.map((text) => `  - ${text}`),
  ].join("\n");
}
