import { encodeTime, incrementBase32, ulid as randomUlid, TIME_LEN } from "ulid";

let last = "";

/**
 * Returns a ULID of 26 characters. The first ten encode the time, the others are cryptographically
 * random. The order of the strings is the order of their times.
 *
 * ```ts
 * await kv.set(["users", ulid()], user);
 * ```
 *
 * @param seedTime the time, in whole milliseconds since the epoch, below 2^48. The default is now.
 * @throws {Error} of the `ulid` package, if the time is not valid.
 * @see https://github.com/ulid/spec
 */
export function ulid(seedTime: number = Date.now()): string {
  // The time is encoded here, because the package's `ulid` takes 0 for "now".
  return encodeTime(seedTime) + randomPart();
}

/**
 * Returns a ULID that comes after every other that this function has returned in this process.
 * Within one millisecond, or if the clock or `seedTime` has stepped back, it is the previous ULID
 * plus one. After a `seedTime` ahead of the clock, ULIDs therefore keep that time until the clock
 * reaches it.
 *
 * @param seedTime as in {@link ulid}.
 * @throws {Error} of the `ulid` package, if the time is not valid.
 */
export function monotonicUlid(seedTime: number = Date.now()): string {
  const time = encodeTime(seedTime);
  const isLater = time > last.slice(0, TIME_LEN);
  // The whole ULID is incremented, so that an overflow of the random part is carried into the time.
  last = isLater ? time + randomPart() : incrementBase32(last);
  return last;
}

function randomPart(): string {
  // The package requests one random byte at a time. One request for all bytes is as fast as each.
  const random = crypto.getRandomValues(new Uint8Array(16));
  let next = 0;
  return randomUlid(1, () => random[next++]! / 256).slice(TIME_LEN);
}
