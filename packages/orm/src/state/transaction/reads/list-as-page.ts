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
} from "@keywright/core";
import type { KvReads } from "../../catalog/capabilities-of.js";

/** Returns entries as those of a page. */
export function listedEntries(entries: readonly KvEntryMaybe<unknown>[]): KvListedEntry[] {
  return entries.map(entryAsListed).filter((entry) => entry !== undefined);
}

/** Returns undefined if there is no entry. */
export function entryAsListed(entry: KvEntryMaybe<unknown>): KvListedEntry | undefined {
  return entry.versionstamp === null ? undefined : new DecodedEntry(entry);
}

/** Returns the first entries of a range of a database that has no pages, as those of a page. */
export async function listAsPage(
  kv: Pick<KvReads, "list">,
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
