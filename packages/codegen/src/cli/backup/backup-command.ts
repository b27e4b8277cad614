import type { EmbeddedKv } from "@keywright/core";
import { type BackupProgress, type BackupResult, backup } from "@keywright/core/backup";
import { Command } from "commander";
import { type Unit, units } from "../../progress/progress-text.js";
import { reporterFor } from "../../progress/reporter-for.js";
import { withoutNewDatabases } from "../../project/config/without-new-databases.js";
import { configFor, openPlace } from "../copy/open-place.js";
import { type ExitCode, exitCodes } from "../terminal/process/exit-codes.js";
import { positiveInteger, type ResultOptions, withResultOptions } from "../terminal/run-options.js";
import { styled, type Terminal } from "../terminal/terminal.js";
import { counted } from "../terminal/text/counted.js";
import { helpText, writeText } from "../terminal/text/wrap.js";
import { withProgress } from "../terminal/with-progress.js";
import { writeJson } from "../terminal/write-json.js";
import { type KeyFileOptions, openSink, withKeyFile } from "./backup-sink-options.js";
import { backupVerifyCommand } from "./backup-verify-command.js";

const help = helpText(`
Writes one state of the database into a folder, while programs use the database. With --incremental, it
adds what was changed since the last backup in this folder; the database needs a log for this (\`keywright
log on\`). If this is not possible, for example in an empty folder, it makes a full backup and says why.
\`keywright restore\` can then restore each moment. With --follow, it adds changes every second until
Ctrl-C.

The database is that of keywright.config.ts. --from names another one as \`keywright copy\` does: a path,
a URL or a setting.

Examples:
  $ keywright backup /backups/app                  a full backup
  $ keywright backup /backups/app --incremental    what has changed since
  $ keywright backup /backups/app --keep 7         and remove all but 7 full backups
  $ keywright backup verify /backups/app

Exit codes: 0 done, or stopped with --follow; 1 failed or stopped; 2 wrong usage.`);

const commits: Unit = ["commit", "commits"];

interface BackupCommandOptions extends ResultOptions, KeyFileOptions {
  readonly from?: string;
  readonly incremental?: boolean;
  readonly follow?: boolean;
  readonly keep?: number;
}

export function backupCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  const command = withResultOptions(
    new Command("backup")
      .description("back up the database into a folder, while programs use it")
      .argument("<folder>", "the folder of the backups, or s3://bucket/prefix")
      .option("--from <database>", "a path, a URL or a setting; the default is database")
      .option("--incremental", "add what was changed since the last backup, if this is possible")
      .option("--follow", "add changes every second until Ctrl-C")
      .option("--keep <n>", "after a full backup, keep this many of them", positiveInteger),
  );
  return withKeyFile(command)
    .addHelpText("after", help)
    .addCommand(backupVerifyCommand(terminal, exit))
    .action(async (folder: string, options: BackupCommandOptions) => {
      const { from = "database", config: file } = options;
      const config = await configFor(terminal.folder, file, [options.from]);
      const open = () => openPlace(terminal.folder, config, from);
      const kv = (await withoutNewDatabases(open)) as EmbeddedKv;
      try {
        const result = await runBackup(terminal, kv, folder, options);
        if (options.json) writeJson(terminal, result ?? { status: "stopped" });
        else writeText(terminal.stdout, resultText(terminal, result));
        exit(result === undefined ? exitCodes.failed : exitCodes.done);
      } finally {
        await kv.close();
      }
    });
}

/** Returns undefined if the backup was stopped. */
async function runBackup(
  terminal: Terminal,
  kv: EmbeddedKv,
  folder: string,
  options: BackupCommandOptions,
): Promise<(BackupResult & { readonly status: "done" }) | undefined> {
  const { incremental = false, follow = false, keep } = options;
  const { sink, key } = await openSink(terminal, folder, options);
  const reporter = reporterFor(terminal.stderr, (progress: BackupProgress) => {
    const unit = progress.phase === "following" ? commits : units.entries;
    return { ...progress, model: "backup", unit };
  });
  return await withProgress(terminal, reporter, async (shown) => {
    try {
      const settings = { incremental, fullIfNeeded: true, follow, keep, key };
      return { status: "done", ...(await backup(kv, sink, { ...settings, ...shown })) };
    } catch (error) {
      if (shown.signal.aborted && error === shown.signal.reason) return undefined;
      throw error;
    }
  });
}

function resultText({ stdout }: Terminal, result: BackupResult | undefined): string {
  if (result === undefined)
    return `${styled(stdout, "yellow", "Stopped.")} The folder has no new backup.`;
  const { kind, entries, fullReason } = result;
  const why = fullReason === undefined ? "" : ` A full backup was needed: ${fullReason}.`;
  const added = counted(result.commits, "commit", "commits");
  const what =
    kind === "full"
      ? `${counted(entries, "entry", "entries")} backed up${result.commits > 0 ? `, and ${added} added` : ""}.`
      : `${added} added.`;
  return `${styled(stdout, "green", "Done.")} ${what}${why}`;
}
