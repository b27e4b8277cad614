import { Command, Option } from "commander";
import { type GenerateResult, generate } from "../../generate/generate.js";
import { type Round, watchAndGenerate } from "../../generate/watch.js";
import { type ExitCode, exitCodes, interruptedExitCode } from "../terminal/process/exit-codes.js";
import { reportError } from "../terminal/report-error.js";
import { type ResultOptions, withResultOptions } from "../terminal/run-options.js";
import { styled, type Terminal } from "../terminal/terminal.js";
import { helpText, wrapped, writeText } from "../terminal/text/wrap.js";
import { writeJson, writeJsonLine } from "../terminal/write-json.js";
import { checkSummary, fileLines, noteLines, summary } from "./generate-summary.js";

const help = helpText(`
Examples:
  $ keywright generate           write the files of all models in keywright.config.ts
  $ keywright generate --watch   write them again after each change
  $ keywright generate --check   fail if a file is not up to date, for CI

Writes to the output folder that keywright.config.ts names:
  <model>.ts            the types and the repository of a model
  index.ts              exports all of them, and openRepositories(kv)
and next to keywright.config.ts:
  keywright.lock.json   the schema as data, so that a review shows its changes; commit it

keywright.config.ts:
  import { defineConfig } from "@keywright/codegen";

  export default defineConfig({ models: "src/models/*.ts", output: "src/db" });

With --watch, errors are printed and the command keeps watching until Ctrl-C. With --json too, each round
prints one line of JSON.

Exit codes: 0 done or up to date, 1 failed, 2 wrong usage, 3 not up to date (--check).`);

interface GenerateCommandOptions extends ResultOptions {
  readonly check?: true;
  readonly watch?: true;
}

export function generateCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  return withResultOptions(
    new Command("generate")
      .description(
        "write a file with types and a repository for each model, and keywright.lock.json",
      )
      .option("--check", "write nothing, and fail if a file is not up to date")
      .addOption(
        new Option(
          "--watch",
          "generate again after each change of a model or the configuration",
        ).conflicts(["check"]),
      ),
  )
    .addHelpText("after", help)
    .action(async ({ check, watch, config, json }: GenerateCommandOptions) => {
      if (watch) return await generateWatch(terminal, config);
      const result = await generate({ folder: terminal.folder, check, config });
      terminal.stderr.write(noteLines(terminal, result));
      if (json) {
        writeJson(terminal, jsonResult(result));
      } else {
        terminal.stdout.write(fileLines(terminal, result.files, check));
        writeText(terminal.stdout, check ? checkSummary(result) : summary(result));
      }
      const isStale = result.files.some(({ state }) => state !== "fresh");
      exit(check && isStale ? exitCodes.stale : exitCodes.done);
    });
}

function jsonResult({ models, files }: GenerateResult): object {
  return { models, files: files.map(({ path, state }) => ({ path, state })) };
}

/** Ends after the current round at Ctrl-C or SIGTERM, or if the output has no reader. */
async function generateWatch(terminal: Terminal, config: string | undefined): Promise<void> {
  const ending = new AbortController();
  const end = () => {
    // At the second signal the process exits at once, because loading a module may never end.
    if (ending.signal.aborted) process.exit(interruptedExitCode);
    ending.abort();
  };
  process.on("SIGINT", end);
  process.on("SIGTERM", end);
  try {
    await watchAndGenerate({
      folder: terminal.folder,
      config,
      signal: ending.signal,
      onRound: (round) => showRound(terminal, round, () => ending.abort()),
    });
  } finally {
    process.off("SIGINT", end);
    process.off("SIGTERM", end);
  }
}

function showRound(terminal: Terminal, round: Round, onUnread: () => void): void {
  const time = styled(terminal.stdout, "dim", new Date().toLocaleTimeString("en-GB"));
  if ("error" in round) reportError(round.error, terminal);
  else terminal.stderr.write(noteLines(terminal, round.result));
  const onWritten = (error?: Error | null) => {
    if (error && "code" in error && error.code === "EPIPE") onUnread();
  };
  if (terminal.isJson) {
    if ("result" in round) writeJsonLine(terminal, jsonResult(round.result), onWritten);
    return;
  }
  const outcome = "error" in round ? "Failed. Nothing was written." : summary(round.result);
  const line = `${time} ${outcome} Waiting for changes. Ctrl-C stops.\n`;
  terminal.stdout.write(wrapped(terminal.stdout, line), onWritten);
}
