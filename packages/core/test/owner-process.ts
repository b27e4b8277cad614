import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { OpenKvOptions } from "../src/index.js";

const program = fileURLToPath(new URL("own-folders.mjs", import.meta.url));

/** Another process, which owns folders. */
export class OwnerProcess {
  readonly #child: ChildProcess;
  readonly #waiting = new Map<number, (error: string | undefined) => void>();
  #nextId = 0;

  constructor() {
    this.#child = fork(program, { execArgv: [] });
    // The process ends with this one, and does not keep it from ending.
    this.#child.unref();
    // Bun has no such method.
    this.#child.channel?.unref?.();
    this.#child.on("message", ({ id, error }: { id: number; error?: string }) =>
      this.#waiting.get(id)?.(error),
    );
  }

  get pid(): number {
    return this.#child.pid!;
  }

  open(folder: string, options?: OpenKvOptions): Promise<void> {
    return this.#call("open", folder, options);
  }

  close(folder: string): Promise<void> {
    return this.#call("close", folder);
  }

  /** Stops the process, or lets it continue. */
  signal(signal: "SIGSTOP" | "SIGCONT"): void {
    this.#child.kill(signal);
  }

  /** Resolves when the process has ended. */
  async kill(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const ended = new Promise<void>((resolve) => this.#child.once("exit", () => resolve()));
    this.#child.kill("SIGKILL");
    await ended;
  }

  #call(call: string, folder: string, options?: OpenKvOptions): Promise<void> {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, (error) => {
        this.#waiting.delete(id);
        if (error === undefined) resolve();
        else reject(new Error(error));
      });
      this.#child.send({ id, call, folder, options });
    });
  }
}
