import { Command } from "commander";
import type { ExitCode } from "./exit-codes.js";
import type { Terminal } from "./terminal.js";

/** `keywright verify`. */
export function verifyCommand(_terminal: Terminal, _exit: (code: ExitCode) => void): Command {
  return new Command("verify");
}
