import { Command } from "commander";
import { generate } from "../generate/generate.js";
import type { OutputFile } from "../generate/output-folder.js";
import { type ExitCode, exitCodes } from "./exit-codes.js";
import { shownPath, styled, type Terminal } from "./terminal.js";

const help = `
Examples:
  $ keywright generate           write the files of the models that keywright.config.ts names
  $ keywright generate --check   fail where one of them is not up to date, as in CI

Writes, into the folder that keywright.config.ts names as output:
  <model>.ts            the types and the repository of each model
  index.ts              all of them, and openRepositories(kv)
and beside keywright.config.ts:
  keywright.lock.json   the schema as data, whose changes a review shows; commit it

keywright.config.ts:
  import { defineConfig } from "@keywright/codegen";

  export default defineConfig({ models: "src/models/*.ts", output: "src/db" });

Exit codes: 0 done or up to date, 1 failed, 2 wrong usage, 3 not up to date (--check).`;

/** `keywright generate`. */
export function generateCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  return new Command("generate")
    .description("write a file with types and a repository for each model, and keywright.lock.json")
    .option("--check", "write nothing, and fail where a file is not up to date")
    .option("--config <path>", "the configuration file, instead of keywright.config.ts")
    .addHelpText("after", help)
    .action(async ({ check, config }: { check?: true; config?: string }) => {
      const { models, files } = await generate({ folder: terminal.folder, check, config });
      const changed = files.filter(({ state }) => state !== "fresh");
      for (const file of changed) {
        const verb = check ? file.state : verbs[file.state];
        const line = `${styled(terminal.stdout, styles[file.state], verb.padEnd(8))} ${shownPath(terminal, file.path)}`;
        terminal.stdout.write(`${line}\n`);
      }
      terminal.stdout.write(`${check ? checkSummary(files) : summary(models, files)}\n`);
      exit(check && changed.length > 0 ? exitCodes.stale : exitCodes.done);
    });
}

type State = OutputFile["state"];

const verbs: Readonly<Record<State, string>> = {
  fresh: "kept",
  stale: "updated",
  missing: "created",
  extra: "removed",
};

const styles = { fresh: "dim", stale: "yellow", missing: "green", extra: "red" } as const;

function summary(models: number, files: readonly OutputFile[]): string {
  const count = (...states: State[]) => files.filter(({ state }) => states.includes(state)).length;
  const parts = [
    `${counted(count("stale", "missing"), "file")} written`,
    `${count("fresh")} unchanged`,
    ...(count("extra") > 0 ? [`${count("extra")} removed`] : []),
  ];
  return `${counted(models, "model")}: ${parts.join(", ")}.`;
}

function checkSummary(files: readonly OutputFile[]): string {
  const changed = files.filter(({ state }) => state !== "fresh").length;
  if (changed === 0) return `${counted(files.length, "file")} up to date.`;
  return `${counted(changed, "file")} not up to date: run \`npx keywright generate\`.`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
