import type { AtomicWrite } from "../../engine/engine.js";
import { DatabaseClosedError, InvalidKeyError, ReadOnlyError } from "../../errors/core-errors.js";
import type { KvKey } from "../../keys/key.js";
import { denoOrder } from "../../keys/key-order.js";
import type { KeyRange, KvListSelector } from "../../keys/key-range.js";
import { defineInspect } from "../../values/define-inspect.js";
import type {
  AtomicOperation,
  KvCommitResult,
  KvEnqueueOptions,
  KvSetKey,
  KvSetOptions,
} from "../atomic-operation.js";
import { EmbeddedKv, type EmbeddedKvOptions } from "../embedded-kv.js";
import type { KvEntryMaybe, KvWatchOptions, QueueHandler } from "../kv.js";
import type { KvLimits } from "../limits.js";
import type { SharedEngine } from "../open/shared-engine.js";
import type { Open } from "../watch/watch.js";
import type { KvRangeChange } from "../watch/watch-range-stream.js";
import { watchStream } from "../watch/watch-stream.js";
import { wrongType } from "./deno-argument.js";
import { badResource, denoError } from "./deno-error.js";
import { encodeKeyOf, takeKey } from "./deno-key.js";
import { assertReadKeySize, assertWithinDeno } from "./deno-limits.js";
import { entryMaybeOf } from "./read/deno-entry.js";
import { copyOf, DenoReads, readKeys } from "./read/deno-reads.js";
import { denoRange, takeBounds, takeSelector } from "./read/deno-selector.js";
import { DenoAtomicOperation } from "./write/deno-atomic-operation.js";
import { commitDenoWrite, type DenoWrite } from "./write/deno-write.js";

/**
 * A database that behaves like Deno KV. It has Deno's order of keys, limits and cursors, and it
 * refuses arguments at the same point and with the same error. The differences are listed in
 * `docs/internals/deno-compatibility.md`.
 */
export class DenoKv extends EmbeddedKv {
  static {
    defineInspect(DenoKv, () => "Kv {}");
  }

  readonly #shared: SharedEngine;
  readonly #options: Omit<EmbeddedKvOptions, "order">;
  readonly #watches: Open = new Set();
  readonly #unlistenMoved: () => void;
  /** True after `close()` and after disposal. */
  #isOver = false;
  /** True only after `close()`. In Deno, `listenQueue` distinguishes it from disposal. */
  #isClosed = false;

  constructor(shared: SharedEngine, options: Omit<EmbeddedKvOptions, "order">) {
    const rangeOf = (selector: KvListSelector) => rangeOfSelector(options.limits, selector);
    super(shared, {
      ...options,
      order: denoOrder,
      rangeOf,
      atomicBy: (commit) => this.#atomicBy(commit),
      readsOf: (context) => {
        return new DenoReads({
          ...context,
          stored: (operation) => {
            this.#assertOpen();
            return context.stored(operation);
          },
        });
      },
    });
    this.#shared = shared;
    this.#options = options;
    const isEnding = options.allowMoved !== true;
    this.#unlistenMoved = shared.fence.onMoved(() => isEnding && this.#endWatches());
  }

  override async set(
    key: KvSetKey,
    value: unknown,
    options?: KvSetOptions,
  ): Promise<KvCommitResult> {
    return (await this.atomic().set(key, value, options).commit()) as KvCommitResult;
  }

  override async delete(key: KvKey): Promise<void> {
    await this.atomic().delete(key).commit();
  }

  override atomic(): AtomicOperation {
    return this.#atomicBy(this.#shared.commit);
  }

  #atomicBy(commit: (write: AtomicWrite) => Promise<string | null>): AtomicOperation {
    const rangeOf = (selector: KvListSelector) => rangeOfSelector(this.limits, selector);
    return new DenoAtomicOperation(
      (write) => this.#commit(write, commit),
      this.checksRanges ? rangeOf : undefined,
    );
  }

  override async enqueue(value: unknown, options?: KvEnqueueOptions): Promise<KvCommitResult> {
    return (await this.atomic().enqueue(value, options).commit()) as KvCommitResult;
  }

  override async listenQueue(handler: QueueHandler): Promise<void> {
    if (this.#isClosed) {
      const own = new DatabaseClosedError("listenQueue", this.#shared.path);
      throw denoError(own, "Queue already closed", Error);
    }
    if (this.#isOver) return;
    await super.listenQueue(handler);
  }

  override watch<T extends readonly unknown[]>(
    keys: readonly [...{ [K in keyof T]: KvKey }],
    options: KvWatchOptions = {},
  ): ReadableStream<{ [K in keyof T]: KvEntryMaybe<T[K]> }> {
    const isRaw = options.raw ?? false;
    if (!Array.isArray(keys))
      throw wrongType(new InvalidKeyError("the list of keys is not an array"), "array", keys);
    const taken = keys.map(takeKey);
    const ownKeys = keys.map(copyOf);
    this.#assertOpen();
    assertWithinDeno(this.limits, "watchedKeys", taken.length);
    const encoded = taken.map((key) => encodeKeyOf(key));
    for (const key of encoded) assertReadKeySize(this.limits, key.length);
    if (encoded.length === 0) return new ReadableStream({ start: (stream) => stream.close() });
    const { engine } = this.#shared;
    const stream = watchStream(
      {
        read: async () => {
          const entries = await readKeys(encoded, engine);
          return entries.map((entry, index) => entryMaybeOf(ownKeys[index]!, entry));
        },
        subscribe: (onChange) => engine.watch(encoded, onChange),
        open: this.#watches,
      },
      isRaw,
    );
    return stream as ReadableStream<{ [K in keyof T]: KvEntryMaybe<T[K]> }>;
  }

  /** An addition to Deno KV. Throws the errors of `list` and of the first read of its iterator. */
  override watchRange(selectors: readonly KvListSelector[]): ReadableStream<KvRangeChange> {
    this.#assertOpen();
    return super.watchRange(selectors);
  }

  /**
   * Closes the database for this handle. The promise resolves after all pending commits have
   * finished and, if this was the last handle, the database is closed. Deno's `close()` returns
   * nothing.
   *
   * @throws {BadResource} synchronously, if the handle is already closed.
   */
  override close(): Promise<void> {
    this.#assertOpen();
    this.#isClosed = true;
    return this.#end();
  }

  override [Symbol.asyncDispose](): Promise<void> {
    return this.#end();
  }

  override [Symbol.dispose](): void {
    this.#end().catch(() => undefined);
  }

  #end(): Promise<void> {
    this.#isOver = true;
    this.#endWatches();
    this.#unlistenMoved();
    return super.close();
  }

  #endWatches(): void {
    for (const watch of [...this.#watches]) watch.end();
  }

  #commit(
    write: DenoWrite,
    commit: (write: AtomicWrite) => Promise<string | null>,
  ): Promise<string | null> {
    const context = {
      ...this.#options,
      assertOpen: () => this.#assertOpen(),
      read: (key: Uint8Array) => this.#shared.engine.get(key),
      commit: async (stored: AtomicWrite) => {
        if (this.#options.readOnly) throw new ReadOnlyError("commit", this.#shared.path);
        return await commit(stored);
      },
    };
    return commitDenoWrite(context, write);
  }

  #assertOpen(): void {
    if (this.#isOver) throw badResource();
  }
}

function rangeOfSelector(limits: KvLimits, selector: KvListSelector): KeyRange {
  const range = denoRange(takeBounds(takeSelector(selector)));
  assertReadKeySize(limits, range.start.length);
  assertReadKeySize(limits, range.end.length);
  return range;
}
