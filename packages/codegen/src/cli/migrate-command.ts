import { Command } from "commander";
import type { ExitCode } from "./exit-codes.js";
import type { Terminal } from "./terminal.js";

/** `keywright migrate`. */
export function migrateCommand(_terminal: Terminal, _exit: (code: ExitCode) => void): Command {
  return new Command("migrate");
}
