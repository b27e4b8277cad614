import { create, fromBinary, type MessageInitShape, toBinary } from "@bufbuild/protobuf";
import { encodeKey, type KvKey } from "@keywright/core";
import { denoOrder } from "@keywright/core/serve";
import {
  AtomicWriteSchema,
  MutationType,
  SnapshotReadOutputSchema,
  SnapshotReadSchema,
  ValueEncoding,
  WatchSchema,
} from "../src/connect/generated/datapath_pb.js";
import { token } from "./served.js";

/** Requests of KV Connect, whose answers a test inspects as they are. */
export class ProtobufClient {
  readonly #url: string;

  constructor(url: string) {
    this.#url = url;
  }

  async post(path: string, body: Uint8Array): Promise<Response> {
    const headers = { authorization: `Bearer ${token}` };
    return await fetch(new URL(path, this.#url), { method: "POST", headers, body });
  }

  async write(message: MessageInitShape<typeof AtomicWriteSchema>): Promise<Response> {
    const body = toBinary(AtomicWriteSchema, create(AtomicWriteSchema, message));
    return await this.post("/kv/atomic_write", body);
  }

  /** Sets a value in the format of V8. */
  async set(key: KvKey, data: Uint8Array): Promise<Response> {
    const value = { data, encoding: ValueEncoding.VE_V8 };
    const mutationType = MutationType.M_SET;
    return await this.write({
      mutations: [{ key: encodeKey(key, denoOrder), value, mutationType }],
    });
  }

  async get(key: KvKey): Promise<Response> {
    const start = encodeKey(key, denoOrder);
    return await this.read({ start, end: Uint8Array.of(...start, 0), limit: 1 });
  }

  async read(...ranges: { start: Uint8Array; end: Uint8Array; limit: number }[]) {
    const message = create(SnapshotReadSchema, { ranges });
    return await this.post("/kv/snapshot_read", toBinary(SnapshotReadSchema, message));
  }

  async watch(key: KvKey): Promise<Response> {
    const message = create(WatchSchema, { keys: [{ key: encodeKey(key, denoOrder) }] });
    return await this.post("/kv/watch", toBinary(WatchSchema, message));
  }
}

/** Returns the bytes of the values in an answer to `read`. */
export async function valuesOf(answer: Response): Promise<Uint8Array[]> {
  const { ranges } = fromBinary(
    SnapshotReadOutputSchema,
    new Uint8Array(await answer.arrayBuffer()),
  );
  return ranges.flatMap(({ values }) => values.map(({ value }) => value));
}
