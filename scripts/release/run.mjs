import { spawn } from "node:child_process";

/**
 * Runs a program. Resolves with its exit code and what it has printed.
 *
 * @param options `cwd`, `env` on top of that of this process, and `input` for its standard input.
 */
export function run(program, args, { cwd, env = {}, input = "" } = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      env: { ...process.env, NO_COLOR: "1", CI: "1", ...env },
      shell: process.platform === "win32",
    });
    let output = "";
    let stdout = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text) => {
        output += text;
        if (stream === child.stdout) stdout += text;
      });
    child.stdin.on("error", () => undefined); // A program may end before it has read all.
    child.stdin.end(input);
    child.on("error", reject);
    child.on("close", (exitCode) => resolve({ exitCode, output, stdout }));
  });
}

/** The same. Returns what was printed on the standard output; throws if the program fails. */
export async function done(program, args, options) {
  const { exitCode, output, stdout } = await run(program, args, options);
  if (exitCode === 0) return stdout;
  throw new Error(`${program} ${args.join(" ")} ended with ${exitCode}:\n${output.slice(-4000)}`);
}
