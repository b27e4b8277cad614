import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";

const run = promisify(execFile);
const script = fileURLToPath(new URL("run-code.mjs", import.meta.url));

/**
 * Runs code in a new process, with `openKv` and `repairDatabase` of the built package. Resolves with its output.
 */
export async function runCode(code: string): Promise<string> {
  // By a script, because Deno and Bun have no `--input-type`.
  return (await run(process.execPath, [script, code])).stdout;
}
