import type { AdoptedModel, AdoptResult, BrokenEntry } from "@keywright/orm/adopt";
import { counted } from "../terminal/counted.js";
import { failureText } from "../terminal/failure-text.js";
import { shownId } from "../terminal/shown-value.js";
import { styled, type Terminal } from "../terminal/terminal.js";

/** The maximum number of failed documents, and of broken entries, that are shown for a model. */
const maxShown = 10;

/** Returns the result of an adoption as text, with what to do next. */
export function adoptText(
  terminal: Terminal,
  { status, models }: AdoptResult,
  isDryRun: boolean,
): string {
  const blocks = models.flatMap((model) => modelLines(model, isDryRun));
  return [...blocks, endText(terminal, status, isDryRun)].join("\n");
}

function modelLines(adopted: AdoptedModel, isDryRun: boolean): string[] {
  const { model, status, rows, failedCount, failed, brokenCount, brokenEntries } = adopted;
  if (status === "todo") return [`${model}  not begun`];
  const counts = [
    `${counted(adopted.adopted, "row")} ${isDryRun ? "to adopt" : "adopted"}`,
    `${counted(adopted.skipped, "row")} there already`,
    `${counted(failedCount, "failed", "failed")}`,
  ];
  return [
    `${model}  ${counted(rows, "document")}: ${counts.join(", ")}${status === "stopped" ? "; stopped" : ""}`,
    ...failed.slice(0, maxShown).map((row) => `  failed  ${shownId(row.id)}  ${failureText(row)}`),
    ...moreLine(failedCount),
    ...(brokenCount > 0
      ? [`  ${counted(brokenCount, "entry", "entries")} of the source's own indexes broken:`]
      : []),
    ...brokenEntries.slice(0, maxShown).map(brokenLine),
    ...moreLine(brokenCount),
  ];
}

function moreLine(count: number): string[] {
  return count > maxShown ? [`  … ${counted(count - maxShown, "more", "more")}`] : [];
}

function brokenLine({ kind, key, id }: BrokenEntry): string {
  return `  ${kind}  ${shownId(key)}${id === undefined ? "" : `  document ${shownId(id)}`}`;
}

function endText({ stdout }: Terminal, status: AdoptResult["status"], isDryRun: boolean): string {
  switch (status) {
    case "done":
      return isDryRun
        ? "Nothing was written."
        : `${styled(stdout, "green", "Done.")} To look at the indexes: npx keywright verify`;
    case "failed-rows":
      return `${styled(stdout, "yellow", isDryRun ? "Nothing was written." : "Not complete.")} Correct the documents, the schema or \`map\`${isDryRun ? "." : ", then adopt again: it tries those that failed."}`;
    case "stopped":
      return isDryRun
        ? "Stopped. Nothing was written."
        : `${styled(stdout, "yellow", "Stopped.")} What is done stays. To go on: npx keywright adopt`;
    case "busy":
      return `${styled(stdout, "yellow", "Nothing was done.")} Another run is at work: npx keywright migrate status`;
  }
}
