import type { EmbeddedKv } from "@keywright/core";
import { type RestoreProgress, verifyBackup } from "@keywright/core/backup";
import { verifyIndexes } from "@keywright/orm/migrate";
import { Command } from "commander";
import { ConfigMissingError } from "../../errors/codegen-errors.js";
import { units } from "../../progress/progress-text.js";
import { reporterFor } from "../../progress/reporter-for.js";
import { loadProject, openModels, type Project } from "../../project/open-project.js";
import { type ExitCode, exitCodes } from "../terminal/process/exit-codes.js";
import { type ResultOptions, withResultOptions } from "../terminal/run-options.js";
import { styled, type Terminal } from "../terminal/terminal.js";
import { counted } from "../terminal/text/counted.js";
import { helpText, writeText } from "../terminal/text/wrap.js";
import { withProgress } from "../terminal/with-progress.js";
import { writeJson } from "../terminal/write-json.js";
import { type KeyFileOptions, openSink, withKeyFile } from "./backup-sink-options.js";

const help = helpText(`
Compares each part of the backups with its checksum, and restores the last state into memory. If there is
a keywright.config.ts, it then compares the indexes of the models with the rows in this copy.

Exit codes: 0 sound, 1 damaged, wrong indexes, stopped or failed, 2 wrong usage.`);

export function backupVerifyCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  const command = withResultOptions(
    new Command("verify")
      .description("read all of the backups in a folder, and restore the last state into memory")
      .argument("<folder>", "the folder of the backups, or s3://bucket/prefix"),
  );
  return withKeyFile(command)
    .addHelpText("after", help)
    .action(async (folder: string, _: unknown, own: Command) => {
      // Options with the same names are parsed by the command above.
      const options = { ...own.parent?.opts(), ...own.opts() } as ResultOptions & KeyFileOptions;
      const project = await projectOf(terminal, options.config);
      const { sink, key } = await openSink(terminal, folder, options);
      const reporter = reporterFor(terminal.stderr, (progress: RestoreProgress) => {
        return { ...progress, model: "verify", unit: units.entries };
      });
      let isWrong = false;
      const inspect = async (kv: EmbeddedKv) => {
        if (project === undefined) return;
        const { status } = await verifyIndexes(await openModels(project, kv));
        isWrong = status !== "clean";
      };
      const report = await withProgress(terminal, reporter, async (shown) =>
        verifyBackup(sink, { key, inspect, ...shown }),
      );
      const status = isWrong ? "damaged" : "clean";
      if (options.json) writeJson(terminal, { status, ...report });
      else {
        const counts = `${counted(report.backups, "full backup", "full backups")}; the last state has ${counted(report.entries, "entry", "entries")}`;
        const text = isWrong
          ? `${styled(terminal.stdout, "red", "Damaged.")} The backup is as it was written, but indexes do not match the rows. Restore it, then run \`keywright verify\`.`
          : `${styled(terminal.stdout, "green", "Sound.")} ${counts}.`;
        writeText(terminal.stdout, text);
      }
      exit(isWrong ? exitCodes.failed : exitCodes.done);
    });
}

/** Returns undefined if there is no configuration, unless one was named. */
async function projectOf(
  { folder }: Terminal,
  file: string | undefined,
): Promise<Project | undefined> {
  try {
    return await loadProject(folder, file);
  } catch (error) {
    if (error instanceof ConfigMissingError && file === undefined) return undefined;
    throw error;
  }
}
