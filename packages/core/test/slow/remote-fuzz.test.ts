import { once } from "node:events";
import fc from "fast-check";
import { Packr } from "msgpackr";
import { expect, it } from "vitest";
import { FrameReader } from "../../src/engine/remote/frames.js";
import { protocolVersion } from "../../src/engine/remote/messages.js";
import type { WireError } from "../../src/engine/remote/wire-error.js";
import { encodeKey, encodeValue, specificationOrder } from "../../src/index.js";
import { checkForeignWrite } from "../../src/kv/write/check-foreign-write.js";
import { connectTo, type Owner, startOwner } from "../remote-engine.js";

/** `KEYWRIGHT_FUZZ_CONNECTIONS=3000 npx vitest run test/slow/remote-fuzz.test.ts` makes more. */
const connections = Number(process.env.KEYWRIGHT_FUZZ_CONNECTIONS ?? 1000);
const messagesEach = 25;
const packr = new Packr({ useRecords: false, largeBigIntToFloat: true });

const junk = fc.oneof(
  fc.anything({ withBigInt: true, withTypedArray: true, withDate: true, maxDepth: 2 }),
  fc.constantFrom(-1, 0, 1, 2 ** 32, 1e300, Number.NaN, Number.POSITIVE_INFINITY, null),
);
/** A valid part of a message, and sometimes anything. */
const mostly = <T>(valid: fc.Arbitrary<T>): fc.Arbitrary<unknown> =>
  fc.oneof(
    { weight: 60, arbitrary: valid as fc.Arbitrary<unknown> },
    { weight: 1, arbitrary: junk },
  );
const key = fc.oneof(
  {
    weight: 60,
    arbitrary: fc.string({ maxLength: 5 }).map((text) => encodeKey([text])),
  },
  {
    weight: 3,
    arbitrary: fc.uint8Array({ maxLength: 5 }).map((bytes) => Uint8Array.of(2, ...bytes)),
  },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 5 }) },
  { weight: 1, arbitrary: fc.constantFrom(Uint8Array.of(0, 6), Uint8Array.of(0xff)) },
);
const value = fc.oneof(
  { weight: 20, arbitrary: fc.constant(encodeValue(1)) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 20 }) },
);
const mutation = fc.oneof(
  fc.tuple(fc.constant("set"), key, value, fc.option(fc.double())),
  fc.tuple(fc.constantFrom("delete", "deleteExpired"), key),
  fc.tuple(fc.constantFrom("sum", "min", "max"), key, fc.bigInt(0n, 2n ** 64n - 1n)),
);
const check = fc.tuple(key, fc.constantFrom(null, "0".repeat(20)));
const write = fc.tuple(
  fc.array(mostly(check), { maxLength: 2 }),
  fc.array(mostly(mutation), { maxLength: 3 }),
);
const range = mostly(fc.tuple(key, key));
const id = fc.nat();
const valid = fc.oneof(
  fc.tuple(fc.constant("get"), key),
  fc.tuple(fc.constant("getMany"), fc.array(key, { maxLength: 4 })),
  fc.tuple(fc.constant("range"), range, mostly(fc.nat(50)), fc.boolean()),
  fc.tuple(fc.constant("commit"), fc.nat(5), fc.array(write, { maxLength: 3 }), fc.boolean()),
  fc.tuple(fc.constant("watch"), id, fc.array(key, { maxLength: 3 }), fc.nat(9)),
  fc.tuple(fc.constant("watchRanges"), id, fc.array(range, { maxLength: 3 }), fc.nat(9)),
  fc.tuple(fc.constantFrom("unwatch", "unlisten", "delivered"), id, fc.boolean()),
  fc.tuple(fc.constantFrom("verifyFiles", "bye")),
  fc.tuple(
    fc.constant("takeTurn"),
    id,
    fc.array(key, { maxLength: 3 }),
    fc.array(key, { maxLength: 3 }),
  ),
  fc.tuple(fc.constant("endTurn"), id),
);
const request = fc.oneof(
  { weight: 30, arbitrary: valid as fc.Arbitrary<readonly unknown[]> },
  { weight: 1, arbitrary: fc.tuple(fc.constantFrom("hello", "get", "commit", "x"), junk) },
);
type Flip = readonly [at: number, bits: number];
const flip: fc.Arbitrary<Flip | null> = fc.oneof(
  { weight: 30, arbitrary: fc.constant(null) },
  { weight: 1, arbitrary: fc.tuple(fc.nat(200), fc.nat(255)) },
);
/** A request, and the bits that are flipped in one of its bytes. */
type Message = readonly [request: readonly unknown[], flip: Flip | null];
const message: fc.Arbitrary<Message> = fc.tuple(request, flip);

type Answer = readonly [request: number, error: unknown, ...rest: unknown[]];

/** Sends messages on a connection of their own, and returns what was answered. */
async function answersTo(owner: Owner, messages: readonly Message[]): Promise<Answer[]> {
  const socket = await owner.connect();
  const closed = once(socket, "close");
  const reader = new FrameReader(2 ** 26, true);
  const answers: Answer[] = [];
  const last = messages.length + 1;
  socket.on("data", (chunk: Buffer) => {
    answers.push(...(reader.push(chunk) as Answer[]));
    if (answers.some(([request]) => request === last)) socket.end();
  });
  const clientId = Uint8Array.from({ length: 16 }, (_, i) => i);
  const bodies = [
    packr.pack([0, "hello", protocolVersion, clientId]),
    ...messages.map(([request, flip], n) => {
      const body = packr.pack([n + 1, ...request]);
      if (flip !== null) body[flip[0] % body.length]! ^= flip[1];
      return body;
    }),
    packr.pack([last, "get", Uint8Array.of(2)]),
  ];
  for (const body of bodies) {
    const header = Buffer.alloc(4);
    header.writeUInt32BE(body.length);
    socket.write(Buffer.concat([header, body]));
  }
  await closed;
  return answers;
}

it("arbitrary messages get typed errors, and the owner continues", async () => {
  const owner = await startOwner({
    check: (write) => checkForeignWrite(write, specificationOrder, {}),
  });
  const runs = fc.sample(fc.array(message, { minLength: messagesEach, maxLength: messagesEach }), {
    numRuns: connections,
    seed: 20,
  });
  let answered = 0;
  let refused = 0;
  const errors = new Set<string>();
  for (let n = 0; n < runs.length; n += 20) {
    const batch = runs.slice(n, n + 20);
    const answers = await Promise.all(batch.map((messages) => answersTo(owner, messages)));
    for (const [request, error] of answers.flat()) {
      if (request === 0 && error === "refused") refused++;
      if (request === 0) continue;
      answered++;
      if (error !== null) errors.add((error as WireError).name);
    }
  }
  expect(answered).toBeGreaterThan(connections * 6);
  expect(refused).toBeGreaterThan(connections / 30);
  expect([...errors]).toEqual(["LimitExceededError"]);
  const engine = await connectTo(owner);
  const alive = encodeKey(["alive"]);
  await engine.commit([
    { checks: [], mutations: [{ type: "set", key: alive, value: encodeValue(1) }], sync: false },
  ]);
  expect(await engine.get(alive)).toBeDefined();
  expect(owner.server.connections).toBe(1);
  await engine.close();
  await owner.close();
});
