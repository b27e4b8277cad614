import { fork } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const program = fileURLToPath(new URL("run-clients.mjs", import.meta.url));

/** Another process that opens databases and records the transactions of its clients. */
export class ClientProcess {
  #child = fork(program, { serialization: "advanced" });
  #calls = new Map();
  #nextId = 0;

  constructor() {
    this.#child.on("message", ({ id, result, error }) => {
      const { resolve, reject } = this.#calls.get(id);
      this.#calls.delete(id);
      if (error === undefined) resolve(result);
      else reject(new Error(error));
    });
    this.#child.on("exit", () => {
      for (const { reject } of this.#calls.values()) reject(new Error("the process has ended"));
    });
  }

  /** Returns the number of the open database, for the other calls. */
  open(where, connections) {
    return this.#call("open", where, connections);
  }

  /** @param options those of `recordTransactions`, with a `seed` in place of `random`. */
  record(database, options) {
    return this.#call("record", database, options);
  }

  close(database) {
    return this.#call("close", database);
  }

  async stop() {
    const ended = once(this.#child, "exit");
    this.#child.disconnect();
    await ended;
  }

  #call(name, ...args) {
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      this.#calls.set(id, { resolve, reject });
      this.#child.send({ id, name, args });
    });
  }
}
