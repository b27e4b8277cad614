import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const script = fileURLToPath(new URL("run-code.mjs", import.meta.url));

/** Runs code in a process of its own, with `openKv` of the built package, and resolves with what it printed. */
export async function runCode(code: string): Promise<string> {
  // By a script, because Deno and Bun have no `--input-type`.
  return (await run(process.execPath, [script, code])).stdout;
}
