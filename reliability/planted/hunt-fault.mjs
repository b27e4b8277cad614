import { spawn } from "node:child_process";
import { fileURLToPath } from "node:url";
import { campaigns } from "./campaigns.mjs";

const program = fileURLToPath(new URL("hunt.mjs", import.meta.url));
const register = new URL("register.mjs", import.meta.url).href;
/** A campaign waits, and the machine has other work: it takes this many times its CPU time at most. */
const patience = 20;

/**
 * Looks for a planted fault with one campaign, in a process of its own.
 *
 * @param name the name of the fault. Without one, nothing is planted.
 * @returns `{ steps, seconds, problem }`. `seconds` are of CPU time. `problem` is undefined if
 * nothing was found.
 */
export async function huntFault(name, campaign, seed) {
  const { NODE_OPTIONS = "", ...env } = process.env;
  const child = spawn(process.execPath, [program, JSON.stringify({ campaign, seed })], {
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own, so that what it has started ends with it.
    detached: true,
    env: {
      ...env,
      NODE_OPTIONS: `${NODE_OPTIONS} --import ${register}`,
      ...(name !== undefined && { KEYWRIGHT_PLANTED: name }),
    },
  });
  const [out, errors] = [[], []];
  child.stdout.on("data", (chunk) => out.push(chunk));
  child.stderr.on("data", (chunk) => errors.push(chunk));
  const { seconds } = campaigns[campaign];
  let isStuck = false;
  const timer = setTimeout(
    () => {
      isStuck = true;
      process.kill(-child.pid, "SIGKILL");
    },
    seconds * patience * 1000,
  );
  const code = await new Promise((resolve) => {
    child.once("close", resolve);
  });
  clearTimeout(timer);
  if (isStuck) return { steps: 0, seconds: 0, problem: "a step did not end" };
  if (code === 0) return JSON.parse(Buffer.concat(out).toString().trim().split("\n").at(-1));
  throw new Error(`${campaign} ended with ${code}: ${Buffer.concat(errors)}`);
}
