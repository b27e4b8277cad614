import type { ReadableStreamDefaultController } from "node:stream/web";

/** The streams and listeners of a handle that have not ended. */
export type Open = Set<{ end(): void }>;

/** Does nothing, and refers to nothing. */
export const wakeNobody = (): void => undefined;

/**
 * Ends the watch of a stream that was abandoned without `cancel()`. It forgets a watch that has
 * ended, because workerd may call a finalizer in the middle of a request.
 */
const endedIfCollected = new FinalizationRegistry<{ end(): void }>((watch) => watch.end());

/**
 * What the engine and the handle know of a stream of reports. It refers to the stream weakly, so
 * that a stream which its reader has abandoned can be collected. Only a pending read holds it, by
 * `wake`.
 */
export class Watch<Report extends object> {
  hasChanged = true;
  hasEnded = false;
  /** Ends the wait of a pending read. */
  wake: () => void = wakeNobody;
  readonly #open: Open;
  readonly #unsubscribe: () => void;
  #controller: WeakRef<ReadableStreamDefaultController<Report>> | undefined;

  constructor(subscribe: (onChange: () => void) => () => void, open: Open) {
    this.#open = open;
    this.#unsubscribe = subscribe(() => this.#onChange());
    open.add(this);
  }

  /** Sets the controller of the stream that `end()` closes. */
  closes(controller: ReadableStreamDefaultController<Report>): void {
    this.#controller = new WeakRef(controller);
  }

  /** Ends the watch if nothing refers to the source of its stream any more. */
  endsWith(source: object): void {
    endedIfCollected.register(source, this, this);
  }

  /** Closes the stream, even if a read is pending. */
  end(): void {
    if (this.hasEnded) return;
    this.stop();
    this.#controller?.deref()?.close();
  }

  stop(): void {
    if (this.hasEnded) return;
    this.hasEnded = true;
    endedIfCollected.unregister(this);
    this.#unsubscribe();
    this.wake();
    this.#open.delete(this);
  }

  #onChange(): void {
    this.hasChanged = true;
    this.wake();
  }
}
