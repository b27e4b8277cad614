import type { LogLifetime } from "@keywright/core";
import { type RestoreProgress, type RestoreResult, restore } from "@keywright/core/backup";
import { Command, Option } from "commander";
import { units } from "../../progress/progress-text.js";
import { reporterFor } from "../../progress/reporter-for.js";
import { kvPlace } from "../../project/open-path.js";
import { type ExitCode, exitCodes } from "../terminal/process/exit-codes.js";
import { jsonOption } from "../terminal/run-options.js";
import { styled, type Terminal } from "../terminal/terminal.js";
import { counted } from "../terminal/text/counted.js";
import { helpText, writeText } from "../terminal/text/wrap.js";
import { withProgress } from "../terminal/with-progress.js";
import { writeJson } from "../terminal/write-json.js";
import { type KeyFileOptions, openSink, withKeyFile } from "./backup-sink-options.js";
import { parseMoment } from "./parse-moment.js";

const help = helpText(`
Restores a backup into an empty database, which is created if it is absent. --to is a path or a URL as for
\`keywright copy\`, of any engine: data/app, lmdb:data/app.mdb, sqlite:data/app.sqlite, postgres://…, etcd://…
The whole backup is verified before anything is written. If the restore is stopped after that, the
database cannot be opened until the command was run again.

--at is the last moment that is restored: a time such as 2026-07-01T12:00:00Z (without a zone it is local
time), or the versionstamp of a commit.

Examples:
  $ keywright restore /backups/app --to data/app
  $ keywright restore /backups/app --to data/noon --at 2026-07-01T12:00

Exit codes: 0 done, 1 failed or stopped, 2 wrong usage.`);

interface RestoreCommandOptions extends KeyFileOptions {
  readonly to: string;
  readonly at?: Date | string;
  readonly log?: LogLifetime;
  readonly durability?: "full" | "relaxed";
  readonly partial?: boolean;
  readonly json?: boolean;
}

export function restoreCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  const command = new Command("restore")
    .description("restore a backup into an empty database, as it was at any moment")
    .argument("<folder>", "the folder of the backups, or s3://bucket/prefix")
    .requiredOption("--to <database>", "the path or URL of an empty database")
    .option("--at <moment>", "a time, or the versionstamp of a commit", parseMoment)
    .option("--log <time>", 'keep a log from then on, for example for "7 days"')
    .addOption(
      new Option(
        "--durability <failure>",
        "relaxed is faster: repeat it after a power cut",
      ).choices(["full", "relaxed"]),
    )
    .option("--partial", "restore what can be read of a damaged backup")
    .addOption(jsonOption());
  return withKeyFile(command)
    .addHelpText("after", help)
    .action(async (folder: string, options: RestoreCommandOptions) => {
      const result = await runRestore(terminal, folder, options);
      const damage = result?.damage.map(({ message }) => message) ?? [];
      const status = result === undefined ? "stopped" : "done";
      if (options.json) writeJson(terminal, { status, ...result, damage });
      else writeText(terminal.stdout, resultText(terminal, result));
      exit(result === undefined ? exitCodes.failed : exitCodes.done);
    });
}

/** Returns undefined if the restore was stopped. */
async function runRestore(
  terminal: Terminal,
  folder: string,
  options: RestoreCommandOptions,
): Promise<RestoreResult | undefined> {
  const { at, partial, durability, log: keep } = options;
  const log = keep === undefined ? undefined : { keep };
  const { sink, key } = await openSink(terminal, folder, options);
  const target = await kvPlace(terminal.folder, options.to);
  const reporter = reporterFor(terminal.stderr, (progress: RestoreProgress) => {
    return { ...progress, model: "restore", unit: units.entries };
  });
  return await withProgress(terminal, reporter, async (shown) => {
    try {
      return await restore(sink, target, { at, partial, durability, log, key, ...shown });
    } catch (error) {
      if (shown.signal.aborted && error === shown.signal.reason) return undefined;
      // A file is open only while it is restored.
      if (typeof target === "object" && "commit" in target) await target.close();
      throw error;
    }
  });
}

function resultText({ stdout }: Terminal, result: RestoreResult | undefined): string {
  if (result === undefined) {
    const rest = "To restore the database, run the same command again.";
    return `${styled(stdout, "yellow", "Stopped.")} ${rest}`;
  }
  const { entries, time, versionstamp, damage } = result;
  const done = damage.length === 0 ? "Done." : "Partly restored.";
  const state = `the state of ${time.toISOString()}, after the commit ${versionstamp}`;
  const lines = damage.map(({ object, reason }) => `  ${object}: ${reason}`);
  const first = `${styled(stdout, damage.length === 0 ? "green" : "yellow", done)} ${counted(entries, "entry", "entries")} restored: ${state}.`;
  return [first, ...lines].join("\n");
}
