import {
  compareKeys,
  type KeyPrefix,
  type KvEntry,
  type KvEntryMaybe,
  type KvKey,
  type KvKeyPart,
  type KvListedEntry,
  type KvListSelector,
  type KvPageOptions,
  type MaybePromise,
} from "@keywright/core";
import type { KvReads } from "../catalog/capabilities-of.js";

/** Returns the first entries of a range, in one batch if the database allows it. */
export function readPage(
  { kv }: { readonly kv: KvReads },
  selector: KvListSelector,
  options: KvPageOptions,
): MaybePromise<KvListedEntry[]> {
  const { pages } = kv;
  return pages === undefined ? listAll(kv, selector, options) : pages.list(selector, options);
}

/** Returns entries as those of a page. */
export function listedEntries(entries: readonly KvEntryMaybe<unknown>[]): KvListedEntry[] {
  const listed: KvListedEntry[] = [];
  for (const entry of entries)
    if (entry.versionstamp !== null) listed.push(new DecodedEntry(entry));
  return listed;
}

async function listAll(
  kv: KvReads,
  selector: KvListSelector,
  { limit, reverse }: KvPageOptions,
): Promise<KvListedEntry[]> {
  const list = kv.list(selector, { reverse, limit, batchSize: limit });
  const entries = (await list.nextBatch?.()) ?? [];
  if (entries.length < limit) {
    for (let next = await list.next(); next.done !== true; next = await list.next())
      entries.push(next.value);
  }
  return listedEntries(entries);
}

/** An entry of a database that has no pages. */
class DecodedEntry implements KvListedEntry {
  readonly #entry: KvEntry<unknown>;

  constructor(entry: KvEntry<unknown>) {
    this.#entry = entry;
  }

  get key(): KvKey {
    return this.#entry.key;
  }

  get keyLength(): number {
    return this.#entry.key.length;
  }

  partAt(position: number): KvKeyPart | undefined {
    return this.#entry.key[position];
  }

  compareStart({ parts, order }: KeyPrefix): number {
    return compareKeys(this.key.slice(0, parts.length), parts, order);
  }

  get value(): unknown {
    return this.#entry.value;
  }

  get versionstamp(): string {
    return this.#entry.versionstamp;
  }

  get expireAt(): number | undefined {
    return this.#entry.expireAt;
  }
}
