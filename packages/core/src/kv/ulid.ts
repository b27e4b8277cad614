import { encodeTime, incrementBase32, ulid as randomUlid, TIME_LEN } from "ulid";

let last = "";

/**
 * Makes a ULID: 26 characters, of which ten tell the time and the others are cryptographically random, so that the order
 * of the strings is the order of their times.
 *
 * ```ts
 * await kv.set(["users", ulid()], user);
 * ```
 *
 * @param seedTime the time, in whole milliseconds since the epoch, before 2^48; now without it.
 * @throws {Error} of the `ulid` package, for another time.
 * @see https://github.com/ulid/spec
 */
export function ulid(seedTime: number = Date.now()): string {
  // The time is not left to the package's `ulid`, which takes 0 for "now".
  return encodeTime(seedTime) + randomPart();
}

/**
 * Makes a ULID that comes after every other that this function has made in this process: within one millisecond, and where
 * the clock or `seedTime` has stepped back, it is the one before it plus one. A `seedTime` ahead of the clock therefore
 * stays the time of the ULIDs after it until the clock has caught up.
 *
 * @param seedTime as in {@link ulid}.
 * @throws {Error} of the `ulid` package, for another time.
 */
export function monotonicUlid(seedTime: number = Date.now()): string {
  const isLater = encodeTime(seedTime) > last.slice(0, TIME_LEN);
  // Counted on as a whole, so that what no longer fits the random part is carried into the time.
  last = isLater ? ulid(seedTime) : incrementBase32(last);
  return last;
}

function randomPart(): string {
  // The package asks for one random byte after another, and each such call is as slow as one for all of them.
  const random = crypto.getRandomValues(new Uint8Array(16));
  let next = 0;
  return randomUlid(1, () => random[next++]! / 256).slice(TIME_LEN);
}
