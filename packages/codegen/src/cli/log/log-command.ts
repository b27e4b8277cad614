import type { LogOptions } from "@keywright/core";
import { logStatus, setLog } from "@keywright/core/backup";
import { Command, Option } from "commander";
import { withConfiguredKv } from "../inspect/run-inspect-command.js";
import { type ExitCode, exitCodes } from "../terminal/process/exit-codes.js";
import { positiveInteger, type ResultOptions, withResultOptions } from "../terminal/run-options.js";
import type { Terminal } from "../terminal/terminal.js";
import { helpText, writeText } from "../terminal/text/wrap.js";
import { writeJson } from "../terminal/write-json.js";
import { loggedDatabase } from "./logged-database.js";

const help = helpText(`
With a log, each commit also stores what it changes. \`keywright backup --incremental\` and \`keywright
changes\` need it. The database stores the setting, so all programs that open it later keep the log. If
another process has the database open, give the option log to that process.

Examples:
  $ keywright log on --keep "30 days"
  $ keywright log status
  $ keywright log off

Exit codes: 0 done, 1 failed, 2 wrong usage.`);

interface LogCommandOptions extends ResultOptions {
  readonly keep?: NonNullable<LogOptions["keep"]>;
  readonly maxBytes?: number;
}

export function logCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  return withResultOptions(
    new Command("log")
      .description("keep a log of what commits change, or end it")
      .argument("<action>", "on, off or status")
      .option(
        "--keep <time>",
        'remove older commits, for example "36 hours"; the default is 7 days',
      )
      .addOption(
        new Option(
          "--max-bytes <n>",
          "remove the oldest commits while the log is larger",
        ).argParser(positiveInteger),
      ),
  )
    .addHelpText("after", help)
    .action(async (action: string, options: LogCommandOptions, command: Command) => {
      if (!["on", "off", "status"].includes(action))
        command.error("error: the action must be on, off or status");
      const { keep, maxBytes } = options;
      const status = await withConfiguredKv(terminal, options.config, async (database) => {
        const kv = loggedDatabase(database);
        if (action !== "status") await setLog(kv, action === "on" && { keep, maxBytes });
        return await logStatus(kv);
      });
      if (options.json) writeJson(terminal, { log: status !== undefined, ...status });
      else writeText(terminal.stdout, statusText(status));
      exit(exitCodes.done);
    });
}

function statusText(status: Awaited<ReturnType<typeof logStatus>>): string {
  if (status === undefined) return "The database keeps no log.";
  const { keepMilliseconds, maxBytes, since } = status;
  const hours = Math.round((keepMilliseconds / 3_600_000) * 100) / 100;
  const most = maxBytes === undefined ? "" : `, and at most ${maxBytes} bytes of them`;
  return `The database keeps a log of its commits for ${hours} hours${most}. It has those after ${since}.`;
}
