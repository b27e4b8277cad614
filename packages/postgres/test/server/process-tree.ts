import { execFileSync } from "node:child_process";

/** Returns the ids of the children of a process. */
export function childrenOf(pid: number): number[] {
  try {
    const output = execFileSync("ps", ["-o", "pid=", "--ppid", String(pid)], { encoding: "utf8" });
    return output.trim().split(/\s+/).filter(Boolean).map(Number);
  } catch {
    // It has no children.
    return [];
  }
}

export function kill(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch {
    // It has ended.
  }
}
