#!/usr/bin/env node
import { run } from "./run.js";

const exitCode = await run(process.argv.slice(2), {
  stdin: process.stdin,
  stdout: process.stdout,
  stderr: process.stderr,
  folder: process.cwd(),
});
// A model's module may hold the process open, as by a database that it opens; what is written goes out first.
process.stdout.write("", () => process.stderr.write("", () => process.exit(exitCode)));
