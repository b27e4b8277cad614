import type { KvEntry, KvKey, KvKeyPart } from "@keywright/core";
import type { AnyRow } from "../../model/compiled-model.js";
import { isSameKey } from "../../model/keys/key-parts.js";
import { yieldToEventLoop } from "../../promises/yield-to-event-loop.js";
import type { ModelStore } from "../context/model-store.js";
import { type MigrationRun, maxBatchRows } from "./migration-run.js";
import { readEntriesAfter } from "./read-entries-after.js";

/** A page of stored entries. */
export interface StoredPage<T> {
  readonly entries: readonly KvEntry<T>[];
  /** True if the scan ends with this page. */
  readonly isLast: boolean;
}

/** A page that is being read before the caller asks for it. */
interface NextPage {
  readonly prefix: KvKey;
  readonly after: KvKey;
  readonly limit: number;
  readonly entries: Promise<KvEntry<unknown>[]>;
}

/** What a scan needs of a run. */
export type ScanPace = Pick<MigrationRun, "signal" | "batchRows" | "readsAhead" | "afterBatch">;

/** The pace of a scan that belongs to no run. */
export const fullPace: ScanPace = {
  signal: undefined,
  batchRows: maxBatchRows,
  readsAhead: true,
  afterBatch: yieldToEventLoop,
};

/**
 * Reads the pages of scans, one scan after another. While the caller works on a page, the next one
 * is being read, so a page may be older than the call that returns it. A commit of what was planned
 * from it has to check its entries.
 */
export class PageReader {
  readonly #context: ModelStore;
  readonly #run: ScanPace;
  #next: NextPage | undefined;

  constructor(context: ModelStore, run: ScanPace) {
    this.#context = context;
    this.#run = run;
  }

  /** Reads rows, and entries whose keys begin with the key of a row and have more key parts. */
  async rows(after: readonly KvKeyPart[] | null, limit: number): Promise<StoredPage<AnyRow>> {
    const prefix = [this.#context.model.place];
    return await this.entries<AnyRow>(prefix, after === null ? null : [...prefix, ...after], limit);
  }

  /**
   * Reads entries as `readEntriesAfter` does.
   *
   * @param limit the maximum number of entries. A page that is not the last may have fewer.
   */
  async entries<T>(prefix: KvKey, after: KvKey | null, limit: number): Promise<StoredPage<T>> {
    const next = this.#next;
    const isNext = next !== undefined && this.#run.readsAhead && isAfter(next, prefix, after);
    if (!isNext) await this.settle();
    this.#next = undefined;
    const read = isNext ? next.entries : readEntriesAfter(this.#context, prefix, after, limit);
    const entries = (await read) as KvEntry<T>[];
    const page = entries.slice(0, limit);
    const last = page.at(-1);
    const isEnd = entries.length < (isNext ? next.limit : limit);
    const isLast = last === undefined || (isEnd && page.length === entries.length);
    if (!isLast && this.#run.readsAhead) this.#readAhead(prefix, last.key, limit);
    return { entries: page, isLast };
  }

  /** Resolves when no read is in progress. */
  async settle(): Promise<void> {
    await this.#next?.entries.catch(() => undefined);
    this.#next = undefined;
  }

  #readAhead(prefix: KvKey, after: KvKey, limit: number): void {
    const entries = readEntriesAfter(this.#context, prefix, after, limit);
    // The call that returns the page throws the error.
    entries.catch(() => undefined);
    this.#next = { prefix, after, limit, entries };
  }
}

/**
 * Yields the pages of a scan, until its end or until the signal stops the run. The last page may be
 * empty. While the caller works on a page, the next one is being read.
 *
 * @param after the key after which to begin; null to begin at the first entry.
 */
export async function* scan<T>(
  context: ModelStore,
  run: ScanPace,
  prefix: KvKey,
  after: KvKey | null = null,
): AsyncGenerator<StoredPage<T>> {
  const pages = new PageReader(context, run);
  let position = after;
  try {
    while (!run.signal?.aborted) {
      const limit = Math.min(maxBatchRows, run.batchRows);
      const page = await pages.entries<T>(prefix, position, limit);
      yield page;
      await run.afterBatch(page.entries.length);
      if (page.isLast) return;
      position = page.entries.at(-1)?.key ?? position;
    }
  } finally {
    await pages.settle();
  }
}

function isAfter(next: NextPage, prefix: KvKey, after: KvKey | null): boolean {
  return after !== null && isSameKey(next.prefix, prefix) && isSameKey(next.after, after);
}
