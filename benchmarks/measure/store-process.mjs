import { fork } from "node:child_process";

/**
 * A contender's store in a process of its own, as in a program that uses only this contender. A
 * process that several contenders share is slower for those that share code: engines of Keywright
 * run the same functions of the ORM, which V8 then compiles for all of them.
 *
 * Each call waits for its answer. The process ends after `close` or `kill`, or if the process that
 * started it ends.
 */
export class StoreProcess {
  contender;
  /** The names of the methods of the store, after `open`. */
  methods = [];
  #child;
  #exited;
  /** How the process ended. */
  #end;
  #pending;

  /** @param program a program that calls `serveStore`. */
  constructor(contender, program) {
    this.contender = contender;
    this.#child = fork(program, [contender.name]);
    this.#child.on("message", ({ result, error }) => {
      if (error === undefined) this.#pending?.resolve(result);
      else this.#pending?.reject(new Error(`${contender.name}: ${error}`));
    });
    this.#exited = new Promise((resolve) => {
      const ended = (how) => {
        this.#end ??= new Error(`The process of ${contender.name} ended with ${how}.`);
        this.#pending?.reject(this.#end);
        resolve();
      };
      this.#child.on("exit", (code, signal) => ended(signal ?? `code ${code}`));
      this.#child.on("error", (error) => ended(error.message));
    });
  }

  /** Opens and fills the store. */
  async open(folder, count, parts) {
    this.methods = await this.#call("open", folder, count, parts);
  }

  /** Verifies that a case has the right result, and makes what its rounds share. */
  async prepare(name) {
    await this.#call("prepare", name);
  }

  /** Returns the nanoseconds of one operation in one round of a case. */
  async measure(name, milliseconds) {
    return await this.#call("measure", name, milliseconds);
  }

  async close() {
    await this.#call("close");
    if (this.#child.connected) this.#child.disconnect();
    await this.#exited;
  }

  /** Ends the process without closing the store. */
  async kill() {
    this.#child.kill("SIGKILL");
    await this.#exited;
  }

  async #call(call, ...args) {
    if (this.#end !== undefined) throw this.#end;
    return await new Promise((resolve, reject) => {
      this.#pending = { resolve, reject };
      // If it cannot be sent, the process is about to be reported as ended.
      this.#child.send({ call, args }, () => undefined);
    });
  }
}
