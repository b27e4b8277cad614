import type { AdoptedModel, AdoptResult, BrokenEntry } from "@keywright/orm/adopt";
import { styled, type Terminal } from "../terminal/terminal.js";
import { counted, moreLine, shownNumber } from "../terminal/text/counted.js";
import { failureText } from "../terminal/text/failure-text.js";
import { shownId } from "../terminal/text/shown-value.js";
import { commandLine } from "../terminal/text/wrap.js";

const maxShown = 10;

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
  if (status === "todo") return [`${model}  not started`];
  const counts = [
    `${counted(adopted.adopted, "row")} ${isDryRun ? "to adopt" : "adopted"}`,
    `${counted(adopted.skipped, "row")} ${adopted.skipped === 1 ? "exists" : "exist"} already`,
    ...(adopted.deleted > 0 ? [`${shownNumber(adopted.deleted)} deleted since`] : []),
    `${shownNumber(failedCount)} failed`,
  ];
  return [
    `${model}  ${counted(rows, "document")}: ${counts.join(", ")}${status === "stopped" ? "; stopped" : ""}`,
    ...failed.slice(0, maxShown).map((row) => `  failed  ${shownId(row.id)}  ${failureText(row)}`),
    ...moreLine(failedCount - maxShown),
    ...(brokenCount > 0
      ? [`  ${counted(brokenCount, "index entry is", "index entries are")} broken in the source:`]
      : []),
    ...brokenEntries.slice(0, maxShown).map(brokenLine),
    ...moreLine(brokenCount - maxShown),
    ...adopted.leftBehind.map(({ kind, count }) => `  not adopted  ${kind}: ${shownNumber(count)}`),
  ];
}

function brokenLine({ kind, key, id }: BrokenEntry): string {
  return `  ${kind}  ${shownId(key)}${id === undefined ? "" : `  document ${shownId(id)}`}`;
}

function endText({ stdout }: Terminal, status: AdoptResult["status"], isDryRun: boolean): string {
  switch (status) {
    case "done":
      return isDryRun
        ? "Nothing was written."
        : `${styled(stdout, "green", "Done.")} To check the indexes:\n${commandLine("verify")}`;
    case "failed-rows":
      return `${styled(stdout, "yellow", isDryRun ? "Nothing was written." : "Not complete.")} Correct the documents, the schema or \`map\`${isDryRun ? "." : ". Then run the command again, which tries the failed documents again."}`;
    case "stopped":
      return isDryRun
        ? "Stopped. Nothing was written."
        : `${styled(stdout, "yellow", "Stopped.")} What was done stays. To continue:\n${commandLine("adopt")}`;
    case "busy":
      return `${styled(stdout, "yellow", "Nothing was done.")} Another run is active. To see it:\n${commandLine("migrate status")}`;
  }
}
