import type { KvKey } from "../../keys/key.js";
import type { KvListSelector } from "../../keys/key-range.js";
import type { Kv, KvEntry, KvEntryMaybe, KvListIterator, KvListOptions } from "../kv.js";
import type { KvLimits } from "../limits.js";
import { Listing } from "./listing.js";
import type { QueuedMessage } from "./queued-message.js";

/** What a copy reads of a source. */
export interface CopyReads {
  readonly limits?: Partial<KvLimits>;
  get(key: KvKey): Promise<KvEntryMaybe<unknown>>;
  getMany(keys: readonly KvKey[]): Promise<KvEntryMaybe<unknown>[]>;
  list(
    selector: KvListSelector,
    options?: KvListOptions,
  ): AsyncIterable<KvEntry<unknown>> | KvListIterator<unknown>;
}

export interface CopySource {
  /** The reads of one state if the database has views, and otherwise of the database itself. */
  readonly reads: CopyReads;
  /** The first listing of a database without views. A later one must find the same entries. */
  readonly listing: Listing | undefined;
  /** Reads an entry of the newest state. */
  readonly getNewest: (key: KvKey) => Promise<KvEntryMaybe<unknown>>;
  /** Returns the messages of the queue in the state. Most databases cannot list them. */
  readonly messages?: () => readonly QueuedMessage[];
  close(): void;
}

/** @param expireIn the option of a copy. It says which entries may expire. */
export async function openSource(
  from: Kv,
  expireIn?: (entry: KvEntry<unknown>) => number | undefined,
): Promise<CopySource> {
  const getNewest = (key: KvKey) => from.get(key);
  const view = await from.openView?.();
  return view === undefined
    ? { reads: from, listing: new Listing(expireIn), getNewest, close: () => undefined }
    : { reads: view, listing: undefined, getNewest, close: () => view.close() };
}
