import { ReadViewEndedError } from "../../../errors/core-errors.js";
import type { Engine, MaybePromise, ReadView } from "../../engine.js";

/** Milliseconds after which a view that is not used is closed. */
const longestIdle = 15 * 60_000;
/** Milliseconds after which a view is closed, even if it is used. */
const longestAge = 60 * 60_000;
const maxViews = 5000;

interface ServedView {
  /** A promise until the view is open. */
  view: MaybePromise<ReadView>;
  readonly idle: NodeJS.Timeout;
  readonly age: NodeJS.Timeout;
}

/** The views that one client has open. They are closed if it does not use them or goes away. */
export class ServedViews {
  readonly #engine: Engine;
  readonly #views = new Map<number, ServedView>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /**
   * Opens a view under a number of the client, which can be used at once. Returns its versionstamp.
   *
   * @throws {ReadViewEndedError} if the client has too many views.
   */
  open(id: number): MaybePromise<string | undefined> {
    if (this.#views.size >= maxViews)
      throw new ReadViewEndedError(`this process has ${maxViews} of them open`);
    const view = this.#engine.openView!();
    const close = () => this.close(id);
    const served: ServedView = {
      view,
      idle: setTimeout(close, longestIdle).unref(),
      age: setTimeout(close, longestAge).unref(),
    };
    this.#views.set(id, served);
    if (!(view instanceof Promise)) return view.versionstamp;
    return view.then(
      (opened) => {
        served.view = opened;
        return opened.versionstamp;
      },
      (error) => {
        close();
        throw error;
      },
    );
  }

  /**
   * Reads a view.
   *
   * @throws {ReadViewEndedError} if the view is not open.
   */
  use<T>(id: number, read: (view: ReadView) => MaybePromise<T>): MaybePromise<T> {
    const served = this.#views.get(id);
    if (served === undefined) {
      throw new ReadViewEndedError(
        "the process that owns the database has closed it, because the connection was lost, or because it was not used for 15 minutes or open for an hour",
      );
    }
    served.idle.refresh();
    return served.view instanceof Promise ? served.view.then(read) : read(served.view);
  }

  close(id: number): void {
    const served = this.#views.get(id);
    if (served === undefined) return;
    this.#views.delete(id);
    clearTimeout(served.idle);
    clearTimeout(served.age);
    if (served.view instanceof Promise) {
      served.view.then(
        (view) => view.close(),
        () => undefined,
      );
    } else served.view.close();
  }

  closeAll(): void {
    for (const id of [...this.#views.keys()]) this.close(id);
  }
}
