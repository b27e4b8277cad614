import { resolve } from "node:path";
import { type RepairReport, repairDatabase } from "@keywright/core";
import { Command, Option } from "commander";
import { type ExitCode, exitCodes } from "../terminal/process/exit-codes.js";
import { type ResultOptions, withResultOptions } from "../terminal/run-options.js";
import { styled, type Terminal } from "../terminal/terminal.js";
import { counted, moreLine } from "../terminal/text/counted.js";
import { helpText, writeText } from "../terminal/text/wrap.js";
import { writeJson } from "../terminal/write-json.js";
import { damageLine } from "../verify/verify-files.js";
import { verifyText } from "../verify/verify-text.js";
import { fileProgress } from "./file-progress.js";
import { type RescuedModel, type RescueResult, rescue } from "./rescue.js";

const help = helpText(`
The argument is the folder of a database that no program has open. The repaired copy holds all commits
up to the first one that is missing or damaged, and none after it, so rows and indexes match. After a
power failure, a database may need this if its programs use durability: "relaxed". Only logs can be
cut off. If another file is damaged, nothing is changed: restore a backup, or use --rescue.

The database stays as it is, and the copy is written next to it. With --in-place the database itself is
changed, and what is cut off cannot be recovered. Then make a copy of the folder first.

--rescue writes what can be read of all files into a new database, folder-rescued by default, and
lists what is lost. It also repairs the indexes and counters of the project's models. Commits may be
there in part, and in the listed ranges of keys, entries may be missing, old, or deleted before. Stop
the programs of the database first. The disk needs room for three times the data.

Examples:
  $ keywright repair data/app                   write the copy data/app-repaired
  $ keywright repair data/app --to /backup/app
  $ keywright repair data/app --in-place
  $ keywright repair data/app --rescue

Exit codes: 0 done; 1 failed, or rows have to be corrected; 2 wrong usage.`);

interface RepairCommandOptions extends ResultOptions {
  readonly to?: string;
  readonly inPlace?: boolean;
  readonly rescue?: boolean;
}

export function repairCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  return withResultOptions(
    new Command("repair")
      .description("cut a damaged database back to its last whole prefix of commits")
      .argument("<folder>", "the folder of the database")
      .option("--to <folder>", "the folder of the copy; the default is <folder>-repaired")
      .addOption(new Option("--in-place", "change the database itself").conflicts(["rescue"]))
      .option("--rescue", "write what can be read of damaged files into a new database"),
  )
    .addHelpText("after", help)
    .action(async (folder: string, options: RepairCommandOptions, command: Command) => {
      if (options.to !== undefined && options.inPlace)
        command.error("error: --to and --in-place exclude each other");
      const path = resolve(terminal.folder, folder);
      const ending = options.rescue ? "rescued" : "repaired";
      const to = resolve(terminal.folder, options.to ?? `${path}-${ending}`);
      if (options.rescue) {
        const rescued = await rescue(terminal, options.config, { path, to });
        if (options.json) writeJson(terminal, rescued);
        else writeText(terminal.stdout, rescueText(terminal, rescued));
        exit(rescued.status === "damaged" ? exitCodes.failed : exitCodes.done);
        return;
      }
      const { onProgress, stop } = fileProgress(terminal.stderr, "repair");
      const place = options.inPlace ? { inPlace: true } : { to };
      const report = await repairDatabase(path, { ...place, onProgress }).finally(stop);
      if (options.json) writeJson(terminal, report);
      else writeText(terminal.stdout, reportText(terminal, report));
      exit(exitCodes.done);
    });
}

function reportText(
  { stdout }: Terminal,
  { path, cuts, lostCommits, lastVersionstamp }: RepairReport,
): string {
  const done = `${styled(stdout, "green", "Done.")} The database is in ${path}.`;
  if (cuts.length === 0) return `${done} No commit had to be cut off.`;
  const lost = counted(lostCommits, "commit");
  return `${done} At least ${lost} ${lostCommits === 1 ? "is" : "are"} gone. The versionstamp of the last commit that is left is ${lastVersionstamp}.`;
}

const maxShown = 20;

function rescueText(terminal: Terminal, result: RescueResult): string {
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
