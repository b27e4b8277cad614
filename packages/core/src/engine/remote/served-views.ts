import { ReadViewEndedError } from "../../errors/core-errors.js";
import type { Engine, ReadView } from "../engine.js";

/** Milliseconds after which a view that is not used is closed. */
const longestIdle = 60_000;
/** Milliseconds after which a view is closed, even if it is used. */
const longestAge = 60 * 60_000;
const maxViews = 500;

interface ServedView {
  readonly view: ReadView;
  readonly idle: NodeJS.Timeout;
  readonly age: NodeJS.Timeout;
}

/** The views that one client has open. They are closed if it does not use them or goes away. */
export class ServedViews {
  readonly #engine: Engine;
  readonly #views = new Map<number, ServedView>();
  #opening = 0;
  #isClosed = false;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  /**
   * Opens a view under a number of the client. Resolves with its versionstamp.
   *
   * @throws {ReadViewEndedError} if the client has too many views.
   */
  async open(id: number): Promise<string | undefined> {
    if (this.#views.size + this.#opening >= maxViews)
      throw new ReadViewEndedError(`this process has ${maxViews} of them open`);
    this.#opening++;
    try {
      const view = await this.#engine.openView!();
      const close = () => this.close(id);
      this.#views.set(id, {
        view,
        idle: setTimeout(close, longestIdle).unref(),
        age: setTimeout(close, longestAge).unref(),
      });
      if (this.#isClosed) close();
      return view.versionstamp;
    } finally {
      this.#opening--;
    }
  }

  /** @throws {ReadViewEndedError} if the view is not open. */
  get(id: number): ReadView {
    const served = this.#views.get(id);
    if (served === undefined) {
      throw new ReadViewEndedError(
        "the process that owns the database has closed it, because the connection was lost, or because it was not used for a minute or open for an hour",
      );
    }
    served.idle.refresh();
    return served.view;
  }

  close(id: number): void {
    const served = this.#views.get(id);
    if (served === undefined) return;
    this.#views.delete(id);
    clearTimeout(served.idle);
    clearTimeout(served.age);
    served.view.close();
  }

  closeAll(): void {
    this.#isClosed = true;
    for (const id of [...this.#views.keys()]) this.close(id);
  }
}
