import type { KvEntryMaybe } from "@keywright/core";

type Entries = readonly KvEntryMaybe<unknown>[];

const soon = Promise.resolve();

/** Reads entries together that are asked for in the same turn. */
export class JoinedReads<Key> {
  readonly #read: (keys: readonly Key[]) => Promise<Entries>;
  /** The read that further calls of this turn join. */
  #next: { readonly keys: Key[]; readonly entries: Promise<Entries> } | undefined;

  /** @param read reads the entries of all keys. If it rejects, so do all calls that it is for. */
  constructor(read: (keys: readonly Key[]) => Promise<Entries>) {
    this.#read = read;
  }

  read(keys: readonly Key[]): Promise<KvEntryMaybe<unknown>[]> {
    if (this.#next === undefined) {
      const joined: Key[] = [];
      this.#next = { keys: joined, entries: this.#readSoon(joined) };
    }
    const { keys: joined, entries } = this.#next;
    const position = joined.length;
    joined.push(...keys);
    return entries.then((all) => all.slice(position, position + keys.length));
  }

  #readSoon(keys: readonly Key[]): Promise<Entries> {
    return soon.then(() => {
      this.#next = undefined;
      return this.#read(keys);
    });
  }
}
