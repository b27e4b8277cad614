/**
 * Waits for promises until a signal is aborted. However many there are, the signal has one
 * listener: Node.js warns of more than ten.
 */
class AbortableWaits {
  readonly #signal: AbortSignal;
  readonly #aborts = new Set<() => void>();
  readonly #abortAll = (): void => {
    for (const abort of [...this.#aborts]) abort();
  };

  constructor(signal: AbortSignal) {
    this.#signal = signal;
  }

  wait<T>(promise: Promise<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const abort = () => {
        end();
        reject(this.#signal.reason as Error);
      };
      const end = () => {
        if (this.#aborts.delete(abort) && this.#aborts.size === 0)
          this.#signal.removeEventListener("abort", this.#abortAll);
      };
      if (this.#aborts.size === 0) this.#signal.addEventListener("abort", this.#abortAll);
      this.#aborts.add(abort);
      promise.then(resolve, reject).finally(end);
      if (this.#signal.aborted) abort();
    });
  }
}

const known = new WeakMap<AbortSignal, AbortableWaits>();

/** @throws the reason of the signal if it is aborted before the promise is settled. */
export function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let waits = known.get(signal);
  if (waits === undefined) {
    waits = new AbortableWaits(signal);
    known.set(signal, waits);
  }
  return waits.wait(promise);
}
