import { resolve } from "node:path";
import { type RepairReport, repairDatabase } from "@keywright/core";
import { Command } from "commander";
import { counted } from "../terminal/counted.js";
import { type ExitCode, exitCodes } from "../terminal/exit-codes.js";
import { styled, type Terminal } from "../terminal/terminal.js";
import { helpText, writeText } from "../terminal/wrap.js";
import { writeJson } from "../terminal/write-json.js";

const help = helpText(`
The argument is the folder of a database that no program has open. The repaired copy holds all commits
up to the first one that is missing or damaged, and none after it, so rows and indexes match. After a
power failure, a database may need this if its programs use durability: "relaxed". Only logs can be
cut off. If another file is damaged, nothing is changed: restore a backup.

The database stays as it is, and the copy is written next to it. With --in-place the database itself is
changed, and what is cut off cannot be recovered. Then make a copy of the folder first.

Examples:
  $ keywright repair data/app                   write the copy data/app-repaired
  $ keywright repair data/app --to /backup/app
  $ keywright repair data/app --in-place

Exit codes: 0 done, 1 failed, 2 wrong usage.`);

interface RepairCommandOptions {
  readonly to?: string;
  readonly inPlace?: boolean;
  readonly json?: boolean;
}

export function repairCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  return new Command("repair")
    .description("cut a damaged database back to its last whole prefix of commits")
    .argument("<folder>", "the folder of the database")
    .option("--to <folder>", "the folder of the copy; the default is <folder>-repaired")
    .option("--in-place", "change the database itself")
    .option("--json", "print the result as one JSON document")
    .addHelpText("after", help)
    .action(async (folder: string, options: RepairCommandOptions, command: Command) => {
      if (options.to !== undefined && options.inPlace)
        command.error("error: --to and --in-place exclude each other");
      const path = resolve(terminal.folder, folder);
      const to = resolve(terminal.folder, options.to ?? `${path}-repaired`);
      const report = await repairDatabase(path, options.inPlace ? { inPlace: true } : { to });
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
