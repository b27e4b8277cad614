import { Command } from "commander";
import { databaseStats } from "../../inspect/stats/database-stats.js";
import { loadProject, withKv } from "../../project/open-project.js";
import { type ExitCode, exitCodes } from "../terminal/exit-codes.js";
import { keyCount } from "../terminal/key-count.js";
import type { Terminal } from "../terminal/terminal.js";
import { writeJson } from "../terminal/write-json.js";
import { runInspectCommand } from "./run-inspect-command.js";
import { statsText } from "./stats-text.js";

const help = `
For each model the rows, each index with its state, and what Keywright keeps for it: counters, its catalog with the
schemas of its rows, and other entries such as guards of references and states of migrations. Behind them stands what
belongs to no model, by the first parts of the keys: the twenty largest. Models that only the database knows are there,
too.

Bytes are those of the encoded keys and values, and not what they take on disk. All of the database is read once, in
batches: what is written meanwhile may or may not be counted. Nothing is written.

Examples:
  $ keywright inspect stats
  $ keywright inspect stats --json

Exit codes: 0 done, 1 failed, 2 wrong usage.`;

/** Creates the command `keywright inspect stats`. */
export function statsCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  return new Command("stats")
    .description(
      "count the keys and bytes of each model and index, and say where their migrations stand",
    )
    .option("--json", "print the result as one JSON document")
    .option("--config <path>", "the configuration file, instead of keywright.config.ts")
    .addHelpText("after", help)
    .action(async ({ json, config }: { json?: true; config?: string }) => {
      await runInspectCommand(terminal, exit, async (output) => {
        const project = await loadProject(terminal.folder, config);
        return await withKv(project.config, async (kv) => {
          const count = keyCount(terminal, "keys", false);
          const options = { onProgress: count.update };
          const stats = await databaseStats(project, kv, options).finally(count.stop);
          if (json) writeJson(terminal, stats);
          else await output.write(statsText(stats, terminal.stdout));
          return exitCodes.done;
        });
      });
    });
}
