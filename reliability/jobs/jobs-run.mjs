import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { openDatabase } from "../shared/open-database.mjs";
import { problemsOfOrders } from "./check-orders.mjs";

const program = fileURLToPath(new URL("work-on-orders.mjs", import.meta.url));

/**
 * Runs jobs in several processes, kills random ones of them, and checks what is left.
 *
 * @param options.name the name of the file or folder, or options of a server's engine.
 * @param options.jobs how many jobs are enqueued, in all processes together.
 * @param options.kills they are spread over the run.
 * @returns the figures of the run, and what is wrong in words.
 */
export async function runJobs({ name, jobs, kills, random, workers = 4, node = process.execPath }) {
  const folder = await mkdtemp(join(tmpdir(), "keywright-jobs-"));
  const where = typeof name === "string" ? join(folder, name) : name;
  try {
    const started = performance.now();
    const share = Math.ceil(jobs / workers);
    const run = new Workers({ node, where, share, workers });
    const killed = await run.untilDone(kills, random);
    const seconds = (performance.now() - started) / 1000;
    const kv = await openDatabase(where);
    try {
      const checked = await problemsOfOrders(kv, workers, share);
      return { kills: killed, jobs: share * workers, seconds, ...checked };
    } finally {
      await kv.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

class Workers {
  #options;
  #processes;
  #enqueued = new Set();
  #ended = 0;
  #failure;
  #isFinishing = false;

  constructor(options) {
    this.#options = options;
    this.#processes = Array.from({ length: options.workers }, (_, i) => this.#start(i));
  }

  #start(i) {
    const { node, where, share } = this.#options;
    const argument = JSON.stringify([where, i, share, 2000]);
    const child = spawn(node, [program, argument], { stdio: ["pipe", "pipe", "pipe"] });
    let errors = "";
    child.stderr.on("data", (chunk) => {
      errors = `${errors}${chunk}`.slice(-10_000);
    });
    createInterface({ input: child.stdout }).on("line", (line) => {
      if (line === "enqueued") this.#enqueued.add(i);
      else this.#ended += Number(line);
    });
    child.stdin.on("error", () => undefined);
    child.exited = new Promise((resolve) => {
      child.once("exit", (code, signal) => {
        if (!child.isKilled && (code !== 0 || !this.#isFinishing))
          this.#failure ??= `worker ${i} ended with ${signal ?? code}: ${errors}`;
        resolve();
      });
    });
    return child;
  }

  /** Kills while the jobs run, and then lets the processes end. Returns how many were killed. */
  async untilDone(kills, random) {
    const { share, workers } = this.#options;
    let killed = 0;
    while (this.#enqueued.size < workers || killed < kills) {
      await new Promise((next) => setTimeout(next, 20));
      if (this.#failure !== undefined) break;
      const isDue = this.#ended >= ((killed + random.next()) * share * workers) / (kills + 1);
      // All is enqueued, and what killed processes had counted is not known.
      if (!isDue && this.#enqueued.size < workers) continue;
      if (killed >= kills) continue;
      await this.#kill(random.below(workers));
      killed++;
    }
    this.#isFinishing = true;
    for (const child of this.#processes) child.stdin.end();
    await Promise.all(this.#processes.map(({ exited }) => exited));
    if (this.#failure !== undefined) throw new Error(this.#failure);
    return killed;
  }

  async #kill(i) {
    const child = this.#processes[i];
    child.isKilled = true;
    child.kill("SIGKILL");
    await child.exited;
    this.#processes[i] = this.#start(i);
  }
}
