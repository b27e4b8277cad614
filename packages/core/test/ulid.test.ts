import { decodeTime } from "ulid";
import { afterEach, describe, expect, it, vi } from "vitest";
import { monotonicUlid, ulid } from "../src/kv/ulid.js";

const form = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

afterEach(() => {
  vi.restoreAllMocks();
});

/** Ascending, and so without a repetition. */
function isStrictlyAscending(texts: readonly string[]): boolean {
  return texts.every((text, index) => index === 0 || texts[index - 1]! < text);
}

describe("ulid", () => {
  it("tells the time", () => {
    const before = Date.now();
    const made = ulid();
    expect(made).toMatch(form);
    expect(decodeTime(made)).toBeGreaterThanOrEqual(before);
    expect(decodeTime(made)).toBeLessThanOrEqual(Date.now());
  });

  it.each([0, 1, 1_691_377_037_923, 2 ** 48 - 1])("tells the time it is given: %d", (time) => {
    expect(ulid(time)).toMatch(form);
    expect(decodeTime(ulid(time))).toBe(time);
  });

  it("is in the order of the times", () => {
    const times = [0, 1, 31, 32, 1_691_377_037_923, 1_691_377_037_924, 2 ** 48 - 1];
    expect(isStrictlyAscending(times.map((time) => ulid(time)))).toBe(true);
  });

  it("is another one each time", () => {
    expect(new Set(Array.from({ length: 1000 }, () => ulid(5))).size).toBe(1000);
  });

  it.each([-1, 0.5, 2 ** 48, Number.NaN, Number.POSITIVE_INFINITY])("refuses %d", (time) => {
    expect(() => ulid(time)).toThrow(/Time must be|Cannot encode a time/);
  });
});

// In the order of the times: what one test has made, those after it come behind.
describe("monotonicUlid", () => {
  it("tells the time", () => {
    const before = Date.now();
    const made = monotonicUlid();
    expect(made).toMatch(form);
    expect(decodeTime(made)).toBeGreaterThanOrEqual(before);
    expect(decodeTime(made)).toBeLessThanOrEqual(Date.now());
  });

  it("ascends within a millisecond, by one", () => {
    vi.spyOn(Date, "now").mockReturnValue(3e12);
    const made = Array.from({ length: 2000 }, () => monotonicUlid());
    expect(isStrictlyAscending(made)).toBe(true);
    expect(new Set(made.map(decodeTime))).toEqual(new Set([3e12]));
    const [first, last] = [made[0]!, made.at(-1)!].map(randomNumber);
    expect(last! - first!).toBe(1999n);
  });

  it("ascends where the clock steps back", () => {
    const clock = vi.spyOn(Date, "now").mockReturnValue(4e12);
    const made = [monotonicUlid()];
    clock.mockReturnValue(4e12 - 60_000);
    made.push(monotonicUlid(), monotonicUlid(0));
    clock.mockReturnValue(4e12 + 1);
    made.push(monotonicUlid());
    expect(isStrictlyAscending(made)).toBe(true);
    expect(made.map(decodeTime)).toEqual([4e12, 4e12, 4e12, 4e12 + 1]);
  });

  it("begins anew, at random, in each millisecond", () => {
    const made = [5e12, 5e12 + 1, 5e12 + 2].map((time) => monotonicUlid(time));
    expect(new Set(made.map(randomNumber)).size).toBe(3);
    expect(made.map(decodeTime)).toEqual([5e12, 5e12 + 1, 5e12 + 2]);
  });

  it("carries into the time where the random part is at its end", () => {
    const random = vi.spyOn(globalThis.crypto, "getRandomValues").mockImplementation((bytes) => {
      (bytes as unknown as Uint8Array).fill(0xff);
      return bytes;
    });
    const first = monotonicUlid(6e12);
    random.mockRestore();
    expect(first).toMatch(/Z{16}$/);
    const made = [first, monotonicUlid(6e12), monotonicUlid(6e12), monotonicUlid(6e12 + 1)];
    expect(isStrictlyAscending(made)).toBe(true);
    expect(made.map(decodeTime)).toEqual([6e12, 6e12 + 1, 6e12 + 1, 6e12 + 1]);
    expect(isStrictlyAscending([made[3]!, monotonicUlid(6e12 + 2)])).toBe(true);
  });

  it("refuses a time that is none, and continues after it", () => {
    const before = monotonicUlid(7e12);
    for (const time of [-1, 0.5, 2 ** 48, Number.NaN]) {
      expect(() => monotonicUlid(time)).toThrow(/Time must be|Cannot encode a time/);
    }
    const after = monotonicUlid(7e12 + 5);
    expect(isStrictlyAscending([before, after])).toBe(true);
    expect(decodeTime(after)).toBe(7e12 + 5);
  });
});

const digits = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

function randomNumber(text: string): bigint {
  return [...text.slice(10)].reduce(
    (number, digit) => number * 32n + BigInt(digits.indexOf(digit)),
    0n,
  );
}
