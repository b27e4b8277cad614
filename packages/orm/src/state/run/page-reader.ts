import type { KvEntry, KvKey, KvKeyPart } from "@keywright/core";
import type { AnyRow } from "../../model/compiled-model.js";
import { isSameKey } from "../../model/keys/key-parts.js";
import type { ModelStore } from "../context/model-store.js";
import type { MigrationRun } from "./migration-run.js";
import { readEntriesAfter } from "./read-entries-after.js";

interface EntriesPage<T> {
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

/**
 * Reads the pages of scans, one scan after another. While the caller works on a page, the next one
 * is being read, so a page may be older than the call that returns it. A commit of what was planned
 * from it has to check its entries.
 */
export class PageReader {
  readonly #context: ModelStore;
  readonly #run: MigrationRun;
  #next: NextPage | undefined;

  constructor(context: ModelStore, run: MigrationRun) {
    this.#context = context;
    this.#run = run;
  }

  /** Reads entries under the model's prefix, as `readNextRows` does. */
  async rows(after: readonly KvKeyPart[] | null, limit: number): Promise<EntriesPage<AnyRow>> {
    const prefix = [this.#context.model.place];
    return await this.entries<AnyRow>(prefix, after === null ? null : [...prefix, ...after], limit);
  }

  /**
   * Reads entries as `readEntriesAfter` does.
   *
   * @param limit the maximum number of entries. A page that is not the last may have fewer.
   */
  async entries<T>(prefix: KvKey, after: KvKey | null, limit: number): Promise<EntriesPage<T>> {
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

function isAfter(next: NextPage, prefix: KvKey, after: KvKey | null): boolean {
  return after !== null && isSameKey(next.prefix, prefix) && isSameKey(next.after, after);
}
