import { Command } from "commander";
import type { ExitCode } from "../terminal/process/exit-codes.js";
import type { Terminal } from "../terminal/terminal.js";
import { helpText } from "../terminal/text/wrap.js";
import { newCommand } from "./new-command.js";
import { planCommand } from "./plan-command.js";
import { resumeCommand, rollbackCommand, runCommand } from "./run/run-command.js";
import { statusCommand } from "./status-command.js";

const help = helpText(`
Examples:
  $ keywright migrate plan               show what a run would do; exit code 3 if it needs a decision
  $ keywright migrate new "full names"   write a migration file for changed rows
  $ keywright migrate run                run the plan
  $ keywright migrate status             show the progress

keywright.config.ts says how to open the database, and lists the migrations of rows:
  import { defineConfig } from "@keywright/codegen";
  import { openKv } from "@keywright/core";
  import { scoresAreNumbers } from "./migrations/scores-are-numbers.js";

  export default defineConfig({
    models: "src/models/*.ts",
    output: "src/db",
    database: () => openKv("data/app"),
    migrations: [scoresAreNumbers],
  });`);

export function migrateCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  const command = new Command("migrate")
    .description("change the database to match the models: indexes and rows")
    .addHelpText("after", help);
  for (const make of [
    planCommand,
    newCommand,
    runCommand,
    statusCommand,
    resumeCommand,
    rollbackCommand,
  ]) {
    command.addCommand(make(terminal, exit));
  }
  return command;
}
