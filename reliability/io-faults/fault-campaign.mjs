import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { buildPreload } from "../shared/preload.mjs";
import { createSwitch } from "./fault-switch.mjs";

const source = fileURLToPath(new URL("fail-calls.c", import.meta.url));
const program = fileURLToPath(new URL("run-faults.mjs", import.meta.url));
/** A file system in memory, on which a run takes a third less time. */
const memoryDisk = "/dev/shm";
/** A process that prints nothing for this time hangs. */
const patience = 60_000;
const runsOfOneProcess = 400;

/** Runs a script of calls again and again, with one fault each. Call `end` at the end. */
export class FaultCampaign {
  /** How many runs had a fault, how many of them had none because the call was not made. */
  figures = { faults: 0, unreached: 0, refused: 0, wrong: 0 };
  /** How often each code was the answer of a call. */
  refusals = {};
  /** What is wrong, in words. */
  problems = [];
  #root;
  #module;
  #started = 0;

  /** @param module the URL of a module whose class `FaultScript` works and compares. */
  static async begin(module = new URL("fault-script.mjs", import.meta.url)) {
    const campaign = new FaultCampaign();
    campaign.#module = String(module);
    const parent = existsSync(memoryDisk) ? memoryDisk : tmpdir();
    campaign.#root = await realpath(await mkdtemp(join(parent, "keywright-faults-")));
    buildPreload(source, campaign.#library);
    await mkdir(campaign.#folder);
    return campaign;
  }

  async end() {
    await rm(this.#root, { recursive: true, force: true });
  }

  get #library() {
    return join(this.#root, "fail-calls.so");
  }

  get #folder() {
    return join(this.#root, "databases");
  }

  /** Returns how many calls of each kind each of some scripts makes. */
  async count(scripts) {
    const results = await this.#runProcess(scripts.map((script) => ({ fault: {}, script })));
    return results.map(({ made, problems }) => {
      if (problems.length > 0) throw new Error(`without a fault: ${problems.join("\n")}`);
      return made;
    });
  }

  /** Runs scripts with one fault each. If a process dies, the next one continues. */
  async run(runs) {
    for (let done = 0; done < runs.length; ) {
      const results = await this.#runProcess(runs.slice(done, done + runsOfOneProcess));
      for (const result of results) this.#note(runs[done++].fault, result);
    }
  }

  #note(fault, { failed, problems, refusals = {} }) {
    if (failed === 0 && fault.kind !== undefined) this.figures.unreached++;
    else this.figures.faults++;
    if (Object.keys(refusals).length > 0) this.figures.refused++;
    if (problems.length > 0) this.figures.wrong++;
    for (const problem of problems) this.problems.push(`${JSON.stringify(fault)}: ${problem}`);
    for (const [name, count] of Object.entries(refusals))
      this.refusals[name] = (this.refusals[name] ?? 0) + count;
  }

  /** Returns the results of the first runs: those before the process has died, and that one. */
  async #runProcess(runs) {
    const control = join(this.#root, "control");
    createSwitch(control);
    const task = {
      ...{ folder: this.#folder, control, runs, first: this.#started },
      module: this.#module,
    };
    const child = spawn(process.execPath, [program, JSON.stringify(task)], {
      env: {
        ...process.env,
        LD_PRELOAD: this.#library,
        KW_FAULT_FOLDER: this.#folder,
        KW_FAULT_CONTROL: control,
        // The calls of io_uring cannot be replaced.
        UV_USE_IO_URING: "0",
      },
      stdio: ["ignore", "pipe", "inherit"],
    });
    const exit = once(child, "exit");
    const watchdog = setTimeout(() => child.kill("SIGKILL"), patience);
    const results = [];
    for await (const line of createInterface({ input: child.stdout })) {
      watchdog.refresh();
      const result = JSON.parse(line);
      if (result.ends !== undefined) results.push(result);
    }
    clearTimeout(watchdog);
    const [code, signal] = await exit;
    if (results.length < runs.length)
      results.push({ problems: [`the process ended with ${signal ?? code}`] });
    this.#started += results.length;
    return results;
  }
}
