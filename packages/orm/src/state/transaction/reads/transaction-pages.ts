import type {
  KeyPrefix,
  KvKey,
  KvListedEntry,
  KvListSelector,
  KvPageOptions,
  KvPages,
  MaybePromise,
} from "@keywright/core";
import { keyAfter } from "../../../model/keys/key-parts.js";
import type { KvReads } from "../../catalog/capabilities-of.js";
import type { Attempt } from "../attempt.js";
import { copyOfKey, keyIdOf } from "../buffer/key-id.js";
import { copyOfSelector, idRangeOf } from "../buffer/list-range.js";
import { entryAsListed, listAsPage } from "./list-as-page.js";

/**
 * Pages of the state that a transaction reads, as the transaction sees them. If it has written
 * nothing within a page, the page is that of the database. It is recorded as a whole, which takes a
 * fraction of the time of recording each entry.
 */
export class TransactionPages implements KvPages {
  readonly listsAtOnce = false;
  readonly #attempt: Attempt;
  readonly #pages: KvPages;
  readonly #merged: Pick<KvReads, "list">;

  /**
   * @param pages those of the state.
   * @param merged lists the entries of a range with the writes of the transaction.
   */
  constructor(attempt: Attempt, pages: KvPages, merged: Pick<KvReads, "list">) {
    this.#attempt = attempt;
    this.#pages = pages;
    this.#merged = merged;
  }

  async list(selector: KvListSelector, options: KvPageOptions): Promise<KvListedEntry[]> {
    const attempt = this.#attempt;
    const range = idRangeOf(selector, attempt.order);
    if (attempt.buffer.hasWithin(range)) return await listAsPage(this.#merged, selector, options);
    const { limit, reverse } = options;
    const read = attempt.reads.ranges!.begin(copyOfSelector(selector), reverse);
    const entries = await this.#read(() => this.#pages.list(selector, options));
    if (entries.length < limit) read.isWhole = true;
    else read.reached = copyOfKey(entries.at(-1)!.key);
    attempt.recordPage({ range, entries, isCovered: true });
    return entries;
  }

  async listEach(
    prefixes: readonly KeyPrefix[],
    { limit, most, after, withValues, properties }: Parameters<KvPages["listEach"]>[1],
  ): Promise<KvListedEntry[][]> {
    const lists: KvListedEntry[][] = [];
    let left = most;
    for (const [i, { parts }] of prefixes.entries()) {
      if (left <= 0) break;
      const isLater = i === 0 && after !== undefined;
      const selector = isLater ? { prefix: parts, start: keyAfter(after) } : { prefix: parts };
      const options = { limit: Math.min(limit, left), reverse: false, withValues, properties };
      const list = await this.list(selector, options);
      lists.push(list);
      left -= list.length;
    }
    return lists;
  }

  async countEach(prefixes: readonly KeyPrefix[], keyLength: number): Promise<number[]> {
    const most = Number.MAX_SAFE_INTEGER;
    const lists = await this.listEach(prefixes, { limit: most, most, withValues: false });
    return lists.map((list) => list.filter((entry) => entry.keyLength === keyLength).length);
  }

  async getLinked(
    entries: readonly KvListedEntry[],
    prefix: KvKey,
    from: number,
  ): Promise<(KvListedEntry | undefined)[]> {
    const attempt = this.#attempt;
    const { order } = attempt;
    const keyOf = ({ key }: KvListedEntry): KvKey => [...prefix, ...key.slice(from)];
    const range = idRangeOf({ prefix }, order);
    if (attempt.buffer.hasWithin(range)) {
      const read = await attempt.readEntries(entries.map(keyOf));
      return read.map(entryAsListed);
    }
    const linked = await this.#read(() => this.#pages.getLinked(entries, prefix, from));
    const found: KvListedEntry[] = [];
    for (const [i, entry] of linked.entries()) {
      if (entry !== undefined) {
        found.push(entry);
        continue;
      }
      const key = copyOfKey(keyOf(entries[i]!));
      attempt.record(keyIdOf(key, order), key, null);
    }
    attempt.recordPage({ range, entries: found, isCovered: false });
    return linked;
  }

  async #read<T>(read: () => MaybePromise<T>): Promise<T> {
    this.#attempt.assertActive();
    const result = await this.#attempt.read((async () => read())());
    this.#attempt.assertActive();
    return result;
  }
}
