import { spawn } from "node:child_process";

/**
 * Runs programs, some of them at a time, in the order of the list. Prints what each has printed
 * when it has ended, under its title. All of them run; if one fails, so does this process.
 *
 * @param {readonly { title: string, program: string, args: readonly string[], cwd?: string }[]} tasks
 * @param {number} atOnce
 */
export async function runTasks(tasks, atOnce) {
  const queue = tasks.values();
  const worker = async () => {
    for (const task of queue) {
      const started = performance.now();
      const { exitCode, output } = await run(task);
      const seconds = Math.round((performance.now() - started) / 1000);
      const outcome = exitCode === 0 ? "" : ", failed";
      console.log(`${task.title} (${seconds} s${outcome}):\n${output}`);
      if (exitCode !== 0) process.exitCode = 1;
    }
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}

function run({ program, args, cwd }) {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      cwd,
      stdio: ["ignore", "pipe", "pipe"],
      shell: process.platform === "win32" && program === "npm",
    });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.setEncoding("utf8").on("data", (text) => {
        output += text;
      });
    child.on("error", reject);
    child.on("close", (exitCode) => resolve({ exitCode, output }));
  });
}
