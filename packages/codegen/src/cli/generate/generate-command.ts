import { Command, Option } from "commander";
import { type GenerateResult, generate } from "../../generate/generate.js";
import { type ExitCode, exitCodes } from "../terminal/exit-codes.js";
import type { Terminal } from "../terminal/terminal.js";
import { writeJson } from "../terminal/write-json.js";
import { checkSummary, fileLines, summary, unreadLines } from "./generate-summary.js";
import { generateWatch } from "./generate-watch.js";

const help = `
Examples:
  $ keywright generate           write the files of the models that keywright.config.ts names
  $ keywright generate --watch   and again whenever a model or the configuration changes
  $ keywright generate --check   fail where one of them is not up to date, as in CI

Writes, into the folder that keywright.config.ts names as output:
  <model>.ts            the types and the repository of each model
  index.ts              all of them, and openRepositories(kv)
and beside keywright.config.ts:
  keywright.lock.json   the schema as data, whose changes a review shows; commit it

keywright.config.ts:
  import { defineConfig } from "@keywright/codegen";

  export default defineConfig({ models: "src/models/*.ts", output: "src/db" });

With --watch an error is shown and the watching goes on; Ctrl-C ends it.

Exit codes: 0 done or up to date, 1 failed, 2 wrong usage, 3 not up to date (--check).`;

interface Options {
  readonly check?: true;
  readonly watch?: true;
  readonly config?: string;
  readonly json?: true;
}

/** Creates the command `keywright generate`. */
export function generateCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  return new Command("generate")
    .description("write a file with types and a repository for each model, and keywright.lock.json")
    .option("--check", "write nothing, and fail where a file is not up to date")
    .addOption(
      new Option("--watch", "generate again whenever what it depends on changes").conflicts([
        "check",
        "json",
      ]),
    )
    .option("--config <path>", "the configuration file, instead of keywright.config.ts")
    .option("--json", "print the result as one JSON document")
    .addHelpText("after", help)
    .action(async ({ check, watch, config, json }: Options) => {
      if (watch) return await generateWatch(terminal, config);
      const result = await generate({ folder: terminal.folder, check, config });
      terminal.stderr.write(unreadLines(terminal, result));
      if (json) {
        writeJson(terminal, jsonResult(result));
      } else {
        terminal.stdout.write(fileLines(terminal, result.files, check));
        terminal.stdout.write(`${check ? checkSummary(result) : summary(result)}\n`);
      }
      const isStale = result.files.some(({ state }) => state !== "fresh");
      exit(check && isStale ? exitCodes.stale : exitCodes.done);
    });
}

/** Returns the files with the states that they had before, without their texts. */
function jsonResult({ models, files }: GenerateResult): object {
  return { models, files: files.map(({ path, state }) => ({ path, state })) };
}
