import { textOfBytes } from "../bytes/text-of-bytes.js";
import { encodeKey } from "../keys/encode-key.js";
import type { KvKey } from "../keys/key.js";

const linesOfDatabases = new WeakMap<object, Lines>();

/** Returns the lines of a database. All calls of a process with the same handle share them. */
export function linesOf(kv: object): Lines {
  let lines = linesOfDatabases.get(kv);
  if (lines === undefined) {
    lines = new Lines();
    linesOfDatabases.set(kv, lines);
  }
  return lines;
}

/** One line for each key, in which calls of this process wait for each other. */
class Lines {
  readonly #waiting = new Map<string, (() => void)[]>();

  /**
   * Waits until all calls before have left the line.
   *
   * @param deadline in milliseconds of the monotonic clock.
   * @returns a function that leaves the line, or undefined if the deadline has passed.
   * @throws the reason of the signal.
   */
  async enter(
    key: KvKey,
    { deadline, signal }: { readonly deadline: number; readonly signal: AbortSignal | undefined },
  ): Promise<(() => void) | undefined> {
    const name = textOfBytes(encodeKey(key));
    signal?.throwIfAborted();
    const line = this.#waiting.get(name);
    if (line === undefined) this.#waiting.set(name, []);
    else if (!(await turnIn(line, deadline, signal))) return undefined;
    return () => this.#next(name);
  }

  #next(name: string): void {
    const next = this.#waiting.get(name)?.shift();
    if (next === undefined) this.#waiting.delete(name);
    else next();
  }
}

/** Resolves with false if the deadline passes before. */
function turnIn(
  line: (() => void)[],
  deadline: number,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const begin = () => {
      end();
      resolve(true);
    };
    const end = () => {
      clearTimeout(timer);
      signal?.removeEventListener("abort", onAbort);
    };
    const leave = () => {
      end();
      line.splice(line.indexOf(begin), 1);
    };
    const onAbort = () => {
      leave();
      reject(signal?.reason as Error);
    };
    const timer = setTimeout(() => {
      leave();
      resolve(false);
    }, deadline - performance.now());
    signal?.addEventListener("abort", onAbort);
    line.push(begin);
  });
}
