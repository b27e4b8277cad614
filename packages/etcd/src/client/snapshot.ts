import type { Buffer } from "node:buffer";
import type { EtcdClient } from "./etcd-client.js";
import type { KeyValue, RangeRequest, RangeResponse } from "./etcd-messages.js";

export interface SnapshotOptions {
  /** A key that the first read reads too, for `reserved`. */
  readonly reservation?: Buffer;
  /** The state, if it is not that of the first read. */
  readonly revision?: number;
}

/** The state of etcd that its first read sees. All further reads see it too. */
export class Snapshot {
  readonly #client: EtcdClient;
  readonly #reservation: Buffer | undefined;
  #revision: number;
  #now = 0;
  #reserved: KeyValue | undefined;
  /** The first read, while it has no answer. */
  #first: Promise<readonly RangeResponse[]> | undefined;

  constructor(client: EtcdClient, { reservation, revision = 0 }: SnapshotOptions = {}) {
    this.#client = client;
    this.#reservation = reservation;
    this.#revision = revision;
  }

  /** The revision of the state, 0 before the first read has its answer. */
  get revision(): number {
    return this.#revision;
  }

  /** When the first read was sent, in milliseconds since the epoch. */
  get now(): number {
    return this.#now;
  }

  /** The reservation that the state contains. */
  get reserved(): KeyValue | undefined {
    return this.#reserved;
  }

  /** Reads ranges of the state in one request. */
  async read(ranges: readonly RangeRequest[]): Promise<readonly RangeResponse[]> {
    while (this.#first !== undefined) await this.#first.catch(() => undefined);
    if (this.#revision > 0) {
      if (this.#now === 0) this.#now = Date.now();
      const at = ranges.map((range) => ({ ...range, revision: this.#revision }));
      return (await readRanges(this.#client, at)).found;
    }
    this.#first = this.#readFirst(ranges);
    try {
      return await this.#first;
    } finally {
      this.#first = undefined;
    }
  }

  async #readFirst(ranges: readonly RangeRequest[]): Promise<readonly RangeResponse[]> {
    this.#now = Date.now();
    const key = this.#reservation;
    const all = key === undefined ? ranges : [...ranges, { key }];
    const { revision, found } = await readRanges(this.#client, all);
    this.#revision = revision;
    if (key !== undefined) this.#reserved = found.at(-1)!.kvs[0];
    return found.slice(0, ranges.length);
  }
}

async function readRanges(
  client: EtcdClient,
  ranges: readonly RangeRequest[],
): Promise<{ readonly revision: number; readonly found: readonly RangeResponse[] }> {
  if (ranges.length === 1) {
    const response = await client.read("KV.Range", ranges[0]!);
    return { revision: response.header.revision, found: [response] };
  }
  const success = ranges.map((requestRange) => ({ requestRange }));
  const { header, responses } = await client.read("KV.Txn", { success });
  return { revision: header.revision, found: responses.map((each) => each.responseRange!) };
}
