import { Command } from "commander";
import { databaseStats } from "../../inspect/stats/database-stats.js";
import { loadProject, withKv } from "../../project/open-project.js";
import { type ExitCode, exitCodes } from "../terminal/process/exit-codes.js";
import { type ResultOptions, withResultOptions } from "../terminal/run-options.js";
import type { Terminal } from "../terminal/terminal.js";
import { keyCount } from "../terminal/text/key-count.js";
import { helpText, wrapped } from "../terminal/text/wrap.js";
import { writeJson } from "../terminal/write-json.js";
import { runInspectCommand } from "./run-inspect-command.js";
import { statsText } from "./stats-text.js";

const help = helpText(`
Shows for each model: its rows, each index with its state, its counters, its catalog entry with the
schemas of its rows, and other entries, such as states of migrations. Models that only the database
has are included. After the models come the 20 largest groups of entries that belong to no model, by
the first part of their keys.

Bytes are those of the encoded keys and values, not the size on disk. The whole database is read once,
in batches, so entries that are written at the same time may or may not be counted. Nothing is written.

Examples:
  $ keywright inspect stats
  $ keywright inspect stats --json

Exit codes: 0 done, 1 failed, 2 wrong usage.`);

export function statsCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  return withResultOptions(
    new Command("stats").description("count the keys and bytes of each model and index"),
  )
    .addHelpText("after", help)
    .action(async ({ json, config }: ResultOptions) => {
      await runInspectCommand(terminal, exit, async (output) => {
        const project = await loadProject(terminal.folder, config);
        return await withKv(project.config, async (kv) => {
          const count = keyCount(terminal, "keys", false);
          const options = { onProgress: count.update };
          const stats = await databaseStats(project, kv, options).finally(count.stop);
          if (json) writeJson(terminal, stats);
          else await output.write(wrapped(terminal.stdout, statsText(stats, terminal.stdout)));
          return exitCodes.done;
        });
      });
    });
}
