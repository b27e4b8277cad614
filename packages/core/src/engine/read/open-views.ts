import { DatabaseClosedError, ReadViewEndedError } from "../../errors/core-errors.js";
import type {
  EntryVisitor,
  KeyList,
  KeyVisitor,
  MaybePromise,
  RangeRead,
  RangesRead,
  RangesVisitor,
  ReadView,
  StoredEntry,
} from "../engine.js";
import { visitMany, visitRange } from "./visit-entries.js";
import { visitRanges } from "./visit-ranges.js";

/** The reads of a view, which an engine makes as long as the view is open. */
export type ViewReads = Omit<ReadView, "close" | "versionstamp">;

/** The views of an engine that are open. Refuses their reads after they have ended. */
export class OpenViews {
  readonly #views = new Set<EndableView>();
  #isClosed = false;

  /**
   * Returns a view.
   *
   * @param release called once, when the view ends. It must not throw.
   * @param versionstamp that of the view, if the engine checks ranges.
   * @throws {DatabaseClosedError} after `close()`. Then `release` has been called.
   */
  open(reads: ViewReads, release: () => void, versionstamp?: string): EndableView {
    if (this.#isClosed) release();
    this.assertOpen();
    const end = () => {
      this.#views.delete(view);
      release();
    };
    const view: EndableView = new EndableView(reads, end, versionstamp);
    this.#views.add(view);
    return view;
  }

  /** @throws {DatabaseClosedError} after `close()`. */
  assertOpen(): void {
    if (this.#isClosed) throw new DatabaseClosedError();
  }

  /** Ends all views. Their reads fail with a `DatabaseClosedError` from then on. */
  close(): void {
    this.#isClosed = true;
    for (const view of [...this.#views]) view.end(() => new DatabaseClosedError());
  }
}

/** A view that its engine can end. */
export class EndableView implements ReadView {
  versionstamp: string | undefined;
  readonly #reads: ViewReads;
  readonly #release: () => void;
  #failure: (() => Error) | undefined;

  constructor(reads: ViewReads, release: () => void, versionstamp: string | undefined) {
    this.versionstamp = versionstamp;
    this.#reads = reads;
    this.#release = release;
  }

  get(key: Uint8Array): MaybePromise<StoredEntry | undefined> {
    return this.#open().get(key);
  }

  getMany(keys: readonly Uint8Array[]): MaybePromise<(StoredEntry | undefined)[]> {
    return this.#open().getMany(keys);
  }

  getRange(read: RangeRead): MaybePromise<StoredEntry[]> {
    return this.#open().getRange(read);
  }

  visitRange(read: RangeRead, visit: EntryVisitor): MaybePromise<void> {
    return visitRange(this.#open(), read, visit);
  }

  visitMany(keys: KeyList, visit: KeyVisitor): MaybePromise<void> {
    return visitMany(this.#open(), keys, visit);
  }

  visitRanges(read: RangesRead, visit: RangesVisitor): MaybePromise<void> {
    return visitRanges(this.#open(), read, visit);
  }

  close(): void {
    this.end(() => new ReadViewEndedError("it was closed"));
  }

  /** @param failure returns the error of later reads. */
  end(failure: () => Error): void {
    if (this.#failure !== undefined) return;
    this.#failure = failure;
    this.#release();
  }

  #open(): ViewReads {
    if (this.#failure !== undefined) throw this.#failure();
    return this.#reads;
  }
}
