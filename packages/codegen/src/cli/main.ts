#!/usr/bin/env node
import { Console } from "node:console";
import { isJsonWanted, run } from "./run.js";
import { endOfProcess } from "./terminal/process/end-of-process.js";
import { allowServing } from "./terminal/process/serving.js";
import type { Terminal } from "./terminal/terminal.js";

const args = process.argv.slice(2);
const terminal: Terminal = {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  folder: process.cwd(),
  enter: (folder) => process.chdir(folder),
  isJson: isJsonWanted(args),
};
allowServing(false);
const end = endOfProcess(terminal);
// Modules of the project may print while they are loaded. Standard output is for results only.
Object.defineProperty(process, "stdout", { configurable: true, get: () => process.stderr });
globalThis.console = new Console(process.stderr, process.stderr);
await end(await run(args, terminal));
