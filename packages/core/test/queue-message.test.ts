import { Buffer } from "node:buffer";
import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { compareBytes } from "../src/bytes/compare-bytes.js";
import {
  CorruptionError,
  DatabaseFormatError,
  InvalidKeyError,
  InvalidOptionError,
  UnsupportedValueError,
} from "../src/errors/core-errors.js";
import { encodeKey } from "../src/keys/encode-key.js";
import { denoOrder, specificationOrder } from "../src/keys/key-order.js";
import type { KvEnqueueOptions } from "../src/kv/atomic-operation.js";
import { draftMessage, enqueueMutation } from "../src/kv/queue/enqueue-mutation.js";
import { isMessageKey, messageIdOf, messageKey, readyAtOf } from "../src/kv/queue/message-key.js";
import { failDelivery } from "../src/kv/queue/message-life.js";
import {
  decodeQueuedMessage,
  encodeQueuedMessage,
  type QueuedMessage,
} from "../src/kv/queue/queued-message.js";
import { reportError } from "../src/kv/queue/report-error.js";

const now = Date.parse("2026-01-01T00:00:00Z");
const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString("hex");

function enqueued(value: unknown, options?: KvEnqueueOptions, order = specificationOrder) {
  const mutation = enqueueMutation(draftMessage(value, options, order), Date.now());
  const message = decodeQueuedMessage(mutation);
  return { key: mutation.key, bytes: mutation.value, message };
}

const decode = (value: Uint8Array) => decodeQueuedMessage({ key: Uint8Array.of(0, 4), value });

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["Date"], now });
});

afterEach(() => {
  vi.useRealTimers();
});

describe("the key of a message", () => {
  it("is 00 04, the time in eight bytes, and the id", () => {
    const id = Uint8Array.from({ length: 16 }, (_, index) => 0xa0 + index);
    const key = messageKey(now + 7, id);
    expect(hex(key)).toBe("00040000019b76daa807a0a1a2a3a4a5a6a7a8a9aaabacadaeaf");
    expect(readyAtOf(key)).toBe(now + 7);
    expect(messageIdOf(key)).toEqual(id);
    expect(isMessageKey(key)).toBe(true);
    expect(isMessageKey(Uint8Array.of(0, 3, 4))).toBe(false);
    expect(isMessageKey(encodeKey(["\u0004"]))).toBe(false);
  });

  it("has the time at which the message is due, and another id each time", () => {
    const first = enqueued("a").key;
    const second = enqueued("a", { delay: 1000 }).key;
    expect(readyAtOf(first)).toBe(now);
    expect(readyAtOf(second)).toBe(now + 1000);
    expect(messageIdOf(first)).toHaveLength(16);
    expect(messageIdOf(first)).not.toEqual(messageIdOf(second));
  });

  it("keeps the order of messages that are due at the same time", () => {
    const keys = Array.from({ length: 300 }, () => enqueued("a").key);
    expect([...keys].sort(compareBytes)).toEqual(keys);
  });

  it("has random bytes in its id, for two processes count from the same number", () => {
    const tails = Array.from({ length: 100 }, () => hex(messageIdOf(enqueued("a").key).slice(6)));
    expect(new Set(tails).size).toBe(100);
  });
});

describe("a stored message", () => {
  it.each<[string, KvEnqueueOptions, string]>([
    ["by default", {}, "01 00 00 05 00000064 000003e8 00001388 00007530 0000ea60 00000000"],
    ["without retries", { backoffSchedule: [] }, "01 00 00 00 00000000"],
    [
      "with two intervals and two keys",
      { backoffSchedule: [0, 3_600_000], keysIfUndelivered: [["a"], ["b", 1]] },
      "01 00 00 02 00000000 0036ee80 00000002 00000003 026100 0000000c 026200 0abff0000000000000",
    ],
  ])("is frozen %s", (_name, options, header) => {
    expect(hex(enqueued("hi", options).bytes)).toBe(`${header}01a26869`.replaceAll(" ", ""));
  });

  it("is frozen after a failed delivery and in the next one", () => {
    const message = { ...enqueued("hi", { backoffSchedule: [] }).message };
    const bytes = encodeQueuedMessage({ ...message, failures: 1, isInDelivery: true });
    expect(hex(bytes)).toBe("010101000000000001a26869");
  });

  it("comes back, from anywhere in memory", () => {
    const messages = fc.record<QueuedMessage>({
      payload: fc.uint8Array({ minLength: 1, maxLength: 40 }),
      backoffSchedule: fc.array(fc.nat(3_600_000), { maxLength: 5 }),
      keysIfUndelivered: fc.array(fc.uint8Array({ minLength: 1, maxLength: 20 }), { maxLength: 4 }),
      failures: fc.nat(5),
      isInDelivery: fc.boolean(),
    });
    fc.assert(
      fc.property(messages, fc.nat(9), (message, offset) => {
        const bytes = encodeQueuedMessage(message);
        const larger = new Uint8Array(bytes.length + 20).fill(0xee);
        larger.set(bytes, offset);
        expect(decode(larger.subarray(offset, offset + bytes.length))).toEqual(message);
      }),
    );
  });

  it("that is cut short is damaged", () => {
    const { bytes, message } = enqueued(1, { keysIfUndelivered: [["a"], ["b"]] });
    const header = bytes.length - message.payload.length;
    for (let size = 1; size <= header; size++)
      expect(() => decode(bytes.subarray(0, size))).toThrow(CorruptionError);
  });

  it("with more keys than bytes is damaged, and takes no memory for them", () => {
    expect(() => decode(Uint8Array.of(1, 0, 0, 0, 0xff, 0xff, 0xff, 0xff, 1))).toThrow(
      CorruptionError,
    );
  });

  it("of a later format is said to be that", () => {
    expect(() => decode(Uint8Array.of(2, 0, 0, 0))).toThrow(DatabaseFormatError);
  });

  it("has its undelivered keys in the order of its database", () => {
    const options = { keysIfUndelivered: [[1]] };
    const keyIn = (order: typeof denoOrder) =>
      enqueued(0, options, order).message.keysIfUndelivered;
    expect(keyIn(specificationOrder)).toEqual([encodeKey([1], specificationOrder)]);
    expect(keyIn(denoOrder)).toEqual([encodeKey([1], denoOrder)]);
    expect(keyIn(denoOrder)).not.toEqual(keyIn(specificationOrder));
  });
});

describe("the options of enqueue", () => {
  const day = 24 * 60 * 60 * 1000;

  it("take a delay of 30 days, five intervals of an hour, and fractions of milliseconds", () => {
    expect(readyAtOf(enqueued(0, { delay: 30 * day }).key)).toBe(now + 30 * day);
    expect(readyAtOf(enqueued(0, { delay: 0.25 }).key)).toBe(now + 1);
    const hours = Array.from({ length: 5 }, () => 3_600_000);
    expect(enqueued(0, { backoffSchedule: hours }).message.backoffSchedule).toEqual(hours);
    expect(enqueued(0, { backoffSchedule: [1.5] }).message.backoffSchedule).toEqual([2]);
  });

  it.each<[string, unknown]>([
    ["delay", { delay: -1 }],
    ["delay", { delay: 30 * day + 1 }],
    ["delay", { delay: Number.NaN }],
    ["delay", { delay: Number.POSITIVE_INFINITY }],
    ["delay", { delay: "5" }],
    ["backoffSchedule", { backoffSchedule: [1, 1, 1, 1, 1, 1] }],
    ["backoffSchedule", { backoffSchedule: 100 }],
    ["backoffSchedule[1]", { backoffSchedule: [1, -1] }],
    ["backoffSchedule[0]", { backoffSchedule: [3_600_001] }],
    ["backoffSchedule[0]", { backoffSchedule: [Number.NaN] }],
    ["backoffSchedule[1]", { backoffSchedule: [1, , 1] }],
    ["keysIfUndelivered", { keysIfUndelivered: "a" }],
  ])("refuse %s of %o", (option, options) => {
    const enqueue = () => draftMessage(0, options as KvEnqueueOptions, specificationOrder);
    expect(enqueue).toThrow(InvalidOptionError);
    expect(enqueue).toThrow(TypeError);
    expect(enqueue).toThrow(expect.objectContaining({ code: "KW_OPTION_INVALID", option }));
  });

  it("refuse keys and messages that cannot be stored", () => {
    const enqueue = (value: unknown, keys: unknown[]) => () =>
      draftMessage(value, { keysIfUndelivered: keys as [] }, specificationOrder);
    expect(enqueue(0, [[]])).toThrow(InvalidKeyError);
    expect(enqueue(0, [["a"], [null]])).toThrow(InvalidKeyError);
    expect(enqueue(() => 0, [])).toThrow(UnsupportedValueError);
  });
});

describe("a message that failed", () => {
  it("never comes again under the key that it had", () => {
    const key = messageKey(now, new Uint8Array(16));
    const draft = draftMessage(0, { backoffSchedule: [0] }, specificationOrder);
    const stored = decodeQueuedMessage({ key, value: draft.value });
    const message = { ...stored, key, versionstamp: "00000000000000010000" };
    for (const time of [now, now - 1000]) {
      const [removal, retry] = failDelivery(message, time, false);
      expect(removal).toEqual({ type: "delete", key });
      expect(readyAtOf(retry!.key)).toBe(now + 1);
    }
  });
});

describe("an error that cannot be shown", () => {
  it("is told of all the same", () => {
    const told: unknown[] = [];
    const console = vi.spyOn(globalThis.console, "error").mockImplementation((what, error) => {
      if (typeof error === "object") throw new Error("it cannot be shown");
      told.push(what);
    });
    reportError("Exception in queue handler", {});
    console.mockRestore();
    expect(told).toEqual(["Exception in queue handler"]);
  });
});
