import type { Buffer } from "node:buffer";
import type { EtcdClient } from "./etcd-client.js";
import type { KeyValue } from "./etcd-messages.js";
import { readKeys } from "./read-keys.js";
import { Snapshot } from "./snapshot.js";

type Found = ReadonlyMap<string, KeyValue>;

/** A request that is about to be sent, and its keys. */
interface JoinedGets {
  readonly keys: Buffer[];
  readonly found: Promise<Found>;
}

/**
 * The maximum number of single keys in one request. Values can be large, so more keys are read by
 * several requests.
 */
const maxJoined = 64;

/** Reads single keys. Those that are read in the same turn are one request. */
export class KeyReader {
  readonly #client: EtcdClient;
  /** The request that further keys of this turn join. */
  #next: JoinedGets | undefined;

  constructor(client: EtcdClient) {
    this.#client = client;
  }

  async get(key: Buffer): Promise<KeyValue | undefined> {
    if (this.#next === undefined || this.#next.keys.length === maxJoined) {
      const keys: Buffer[] = [];
      this.#next = { keys, found: this.#readSoon(keys) };
    }
    const { keys, found } = this.#next;
    keys.push(key);
    return (await found).get(key.toString("latin1"));
  }

  async #readSoon(keys: readonly Buffer[]): Promise<Found> {
    await Promise.resolve();
    if (this.#next?.keys === keys) this.#next = undefined;
    return await readKeys(new Snapshot(this.#client), keys);
  }
}
