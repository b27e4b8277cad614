import { Agent, request } from "node:http";
import { create, toBinary } from "@bufbuild/protobuf";
import { encodeKey } from "@keywright/core";
import fc from "fast-check";
import { expect, it } from "vitest";
import {
  AtomicWriteSchema,
  SnapshotReadSchema,
  WatchSchema,
} from "../../src/connect/generated/datapath_pb.js";
import { token, withServer } from "../served.js";

/** `KEYWRIGHT_FUZZ_REQUESTS=50000 npx vitest run test/slow/fuzz.test.ts` sends more. */
const requests = Number(process.env["KEYWRIGHT_FUZZ_REQUESTS"] ?? 10_000);
const atOnce = 50;

function rarely<T>(arbitrary: fc.Arbitrary<T>): fc.Arbitrary<T | null> {
  return fc.oneof({ weight: 9, arbitrary: fc.constant(null) }, { weight: 1, arbitrary });
}
const key = fc.oneof(
  fc.constantFrom(encodeKey(["a"]), encodeKey(["b", 1])),
  fc.uint8Array({ maxLength: 6 }),
);
const value = fc.record({
  data: fc.uint8Array({ maxLength: 12 }),
  encoding: fc.nat(4),
});
const time = fc.constantFrom(0n, -1n, 1n, 2n ** 62n, BigInt(Date.now()));
const atomicWrite = fc
  .record({
    checks: fc.array(fc.record({ key, versionstamp: fc.uint8Array({ maxLength: 11 }) }), {
      maxLength: 2,
    }),
    mutations: fc.array(
      fc.record({ key, value, mutationType: fc.nat(10), expireAtMs: time, sumClamp: fc.boolean() }),
      { maxLength: 3 },
    ),
    enqueues: fc.array(
      fc.record({
        payload: fc.uint8Array({ maxLength: 9 }),
        deadlineMs: time,
        keysIfUndelivered: fc.array(key, { maxLength: 2 }),
        backoffSchedule: fc.array(fc.nat(2 ** 32 - 1), { maxLength: 3 }),
      }),
      { maxLength: 1 },
    ),
  })
  .map((fields) => toBinary(AtomicWriteSchema, create(AtomicWriteSchema, fields)));
const read = fc
  .array(
    fc.record({
      start: key,
      end: key,
      limit: fc.oneof(fc.nat(20), fc.integer()),
      reverse: fc.boolean(),
    }),
    { maxLength: 4 },
  )
  .map((ranges) => toBinary(SnapshotReadSchema, create(SnapshotReadSchema, { ranges })));
const watch = fc
  .array(fc.record({ key }), { maxLength: 12 })
  .map((keys) => toBinary(WatchSchema, create(WatchSchema, { keys })));
const garbage = fc.uint8Array({ maxLength: 100 });
const call = fc.oneof(
  fc.tuple(fc.constant("/kv/atomic_write"), atomicWrite),
  fc.tuple(fc.constant("/kv/snapshot_read"), read),
  fc.tuple(fc.constant("/kv/watch"), watch),
  fc.tuple(
    fc.constantFrom("/", "/kv/atomic_write", "/kv/snapshot_read", "/kv/watch", "/attach", "/%00"),
    fc.oneof(garbage, atomicWrite, read, fc.json().map(Buffer.from)),
  ),
);
const headers = rarely(
  fc.dictionary(
    fc.constantFrom("x-denokv-database-id", "content-type", "upgrade", "origin", "expect"),
    fc.stringMatching(/^[ -~]{0,20}$/),
    { maxKeys: 2 },
  ),
);
/** The path, the body, a flipped bit of the body, and headers. */
const fuzzed = fc.tuple(call, rarely(fc.nat(999)), headers);
type Fuzzed = typeof fuzzed extends fc.Arbitrary<infer T> ? T : never;

it("arbitrary requests get an answer that names their mistake, and the server continues", async () => {
  await withServer({ compat: "deno" }, async ({ url }, kv) => {
    const agent = new Agent({ keepAlive: true, maxSockets: atOnce });
    const send = ([[path, body], flip, given]: Fuzzed): Promise<number | string> =>
      new Promise((resolve) => {
        const bytes = Uint8Array.from(body);
        if (flip !== null && bytes.length > 0) bytes[flip % bytes.length]! ^= 1 << (flip % 8);
        const sent = request(new URL(path, url), {
          ...{ method: "POST", agent, timeout: 120_000 },
          headers: { ...given, authorization: `Bearer ${token}` },
        });
        sent.on("response", (answer) => {
          resolve(answer.statusCode!);
          // A watch has no end.
          if (path === "/kv/watch" && answer.statusCode === 200) sent.destroy();
          else answer.resume();
        });
        sent.on("upgrade", (_, socket) => {
          resolve("upgrade");
          socket.destroy();
        });
        sent.on("timeout", () => resolve("timeout"));
        sent.on("error", (error) => resolve(`${error.message} ${path} ${JSON.stringify(given)}`));
        sent.end(bytes);
      });
    const counts = new Map<number | string, number>();
    const queue = fc.sample(fuzzed, { numRuns: requests, seed: 20 }).values();
    const worker = async () => {
      for (const each of queue) {
        const status = await send(each);
        counts.set(status, (counts.get(status) ?? 0) + 1);
      }
    };
    await Promise.all(Array.from({ length: atOnce }, worker));
    agent.destroy();
    // Refused are also keys and values that are not encoded as Deno encodes them, web pages, other
    // paths, and the header `expect`.
    expect([...counts.keys()].sort()).toEqual([200, 400, 403, 404, 417]);
    expect(counts.get(200)).toBeGreaterThan(requests / 10);
    expect((await kv.set(["alive"], 1)).ok).toBe(true);
    expect((await fetch(new URL("health", url))).status).toBe(200);
  });
}, 900_000);
