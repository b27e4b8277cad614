import { Command } from "commander";
import type { ExitCode } from "../terminal/exit-codes.js";
import type { Terminal } from "../terminal/terminal.js";
import { newCommand } from "./new-command.js";
import { planCommand } from "./plan-command.js";
import { resumeCommand, rollbackCommand, runCommand } from "./run/run-command.js";
import { statusCommand } from "./status-command.js";

const help = `
Examples:
  $ keywright migrate plan               what a migration would do; 3 where somebody has to decide on it, as in CI
  $ keywright migrate new "full names"   write the file of a migration of rows, where one is missing
  $ keywright migrate run                do it
  $ keywright migrate status             how far it has come

keywright.config.ts says how the database is opened, and which migrations of
rows there are:
  import { openKv } from "@keywright/core";
  import { defineConfig } from "@keywright/codegen";

  export default defineConfig({
    models: "src/models/*.ts",
    output: "src/db",
    database: () => openKv("data/app"),
    migrations: [scoresAreNumbers],
  });`;

/** Creates the command `keywright migrate`. */
export function migrateCommand(terminal: Terminal, exit: (code: ExitCode) => void): Command {
  const command = new Command("migrate")
    .description("bring the database to the models: new indexes, changed rows")
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
