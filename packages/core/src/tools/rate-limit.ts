import { textOfBytes } from "../bytes/text-of-bytes.js";
import { InvalidOptionError } from "../errors/core-errors.js";
import { encodeKey } from "../keys/encode-key.js";
import type { KvKey, KvKeyPart } from "../keys/key.js";
import type { Kv, KvLike } from "../kv/kv.js";
import { assertMilliseconds, longestLifetime } from "./milliseconds.js";

/** At most `limit` per `window`: see {@link rateLimit}. */
export interface SlidingWindowOptions {
  readonly limit: number;
  /** Milliseconds. */
  readonly window: number;
}

/** At most `burst` at once, and `perSecond` in the long run: see {@link rateLimit}. */
export interface TokenBucketOptions {
  /** The tokens of a full bucket. */
  readonly burst: number;
  /** The tokens that are added in a second. */
  readonly perSecond: number;
}

export type RateLimitOptions = SlidingWindowOptions | TokenBucketOptions;

/** The answer to one call of {@link RateLimit.take}. */
export interface RateLimitResult {
  /** True if the call is within the limit, and was counted. */
  readonly ok: boolean;
  /** What is left after the call. */
  readonly remaining: number;
  /** Milliseconds after which the same call is within the limit, if no other comes before. */
  readonly retryAfter: number;
}

export interface RateLimit {
  /**
   * Counts a call of a user, an address or whatever `id` names, if it is within the limit.
   *
   * @param cost how much it counts. The default is 1.
   * @throws {InvalidOptionError} if `cost` is more than the limit ever permits.
   */
  take(id: KvKeyPart, cost?: number): Promise<RateLimitResult>;
  /** Forgets what an id has used. */
  reset(id: KvKeyPart): Promise<void>;
}

/**
 * A state that is further in the future, in milliseconds, is of a clock that was wrong, and is
 * forgotten. The clocks of two machines differ by less.
 */
const mostAhead = 600_000;

/** The share by which a sum of fractions may be wrong. Otherwise, `retryAfter` may be too early. */
const rounding = 1e-12;

/** The stored state of an id. Each kind of limit has its own. */
type State = readonly [number, number, number?];

/** How a kind of limit counts. Times are milliseconds since the epoch. */
interface Meter {
  readonly most: number;
  /** Milliseconds after which a state says nothing that a missing one does not say. */
  readonly lifetime: number;
  take(state: State | undefined, cost: number, now: number): RateLimitResult & { state: State };
}

interface Call {
  readonly cost: number;
  readonly resolve: (result: RateLimitResult) => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Limits how often something happens, over all processes that use the database. There are two
 * kinds:
 *
 * - `{ limit, window }`: at most `limit` in each stretch of `window` milliseconds. It assumes that
 *   calls of the window before were spread evenly (a sliding window counter).
 * - `{ burst, perSecond }`: a bucket of `burst` tokens, to which `perSecond` are added in a second.
 *
 * The state of an id is one entry under `prefix`, which expires. Calls of one process about the
 * same id are counted together in one commit, so they do not conflict.
 *
 * ```ts
 * const logins = rateLimit(kv, ["limits", "login"], { limit: 5, window: 60_000 });
 * const { ok, retryAfter } = await logins.take(address);
 * ```
 *
 * @throws {InvalidOptionError} if an option is not valid.
 */
export function rateLimit(kv: KvLike, prefix: KvKey, options: RateLimitOptions): RateLimit {
  const meter = "window" in options ? slidingWindow(options) : tokenBucket(options);
  const waiting = new Map<string, Call[]>();
  return {
    take: (id, cost = 1) => {
      if (!(cost > 0 && cost <= meter.most)) {
        const reason = `must be a number above 0, and at most ${meter.most}`;
        return Promise.reject(new InvalidOptionError("cost", reason, "take"));
      }
      return new Promise((resolve, reject) => {
        const call = { cost, resolve, reject };
        const name = textOfBytes(encodeKey([id]));
        const calls = waiting.get(name);
        if (calls !== undefined) {
          calls.push(call);
          return;
        }
        waiting.set(name, [call]);
        // The caller may change its bytes before the commit.
        const part = id instanceof Uint8Array ? Uint8Array.from(id) : id;
        void takeWaiting(kv as Kv, [...prefix, part], meter, name, waiting);
      });
    },
    reset: (id) => kv.delete([...prefix, id]),
  };
}

/** Counts calls about one id until none is waiting. */
async function takeWaiting(
  kv: Kv,
  key: KvKey,
  meter: Meter,
  name: string,
  waiting: Map<string, Call[]>,
): Promise<void> {
  for (let calls = waiting.get(name)!; calls.length > 0; calls = waiting.get(name)!) {
    waiting.set(name, []);
    try {
      const results = await take(kv, key, meter, calls);
      for (const [i, { resolve }] of calls.entries()) resolve(results[i]!);
    } catch (error) {
      for (const { reject } of calls) reject(error);
    }
  }
  waiting.delete(name);
}

async function take(
  kv: Kv,
  key: KvKey,
  meter: Meter,
  calls: readonly Call[],
): Promise<RateLimitResult[]> {
  for (;;) {
    const entry = await kv.get<State>(key);
    const now = Date.now();
    let state = entry.value ?? undefined;
    if (state !== undefined && state[0] - now > mostAhead) state = undefined;
    const results = calls.map(({ cost }) => {
      const { state: next, ...result } = meter.take(state, cost, now);
      if (result.ok) state = next;
      return result;
    });
    if (!results.some(({ ok }) => ok)) return results;
    const operation = kv.atomic().check(entry);
    const { ok } = await operation.set(key, state, { expireIn: meter.lifetime }).commit();
    // Another process has counted at the same time.
    if (ok) return results;
  }
}

/** The state is the beginning of a window, what the window has, and what the one before had. */
function slidingWindow({ limit, window }: SlidingWindowOptions): Meter {
  assertPositive("limit", limit);
  assertMilliseconds("window", window, { least: 1, most: longestLifetime }, "rateLimit");
  return {
    most: limit,
    lifetime: Math.ceil(2 * window),
    take: (stored, cost, now) => {
      const [begin, current, previous] = windowAt(stored, window, now);
      const passed = (now - begin) / window;
      const used = current + previous * (1 - Math.max(0, passed));
      if (used + cost <= limit + rounding * limit) {
        const remaining = Math.max(0, limit - used - cost);
        return { ok: true, remaining, retryAfter: 0, state: [begin, current + cost, previous] };
      }
      // Either the window before has moved far enough out of the stretch, or the next window has
      // begun and this one has.
      const wait =
        current + cost <= limit
          ? 1 - (limit - current - cost) / previous - passed
          : 2 - (limit - cost) / current - passed;
      const retryAfter = Math.ceil(wait * window);
      return { ok: false, remaining: Math.max(0, limit - used), retryAfter, state: stored! };
    },
  };
}

/** Returns the beginning of the window at a time, what it has and what the one before had. */
function windowAt(
  [begin, current, previous = 0]: State = [0, 0, 0],
  window: number,
  now: number,
): readonly [number, number, number] {
  const beginning = Math.floor(now / window) * window;
  // A clock that has gone back stays in the window that was counted.
  if (beginning <= begin) return [begin, current, previous];
  // The window may not be a whole number.
  return [beginning, 0, Math.round((beginning - begin) / window) === 1 ? current : 0];
}

/** The state is a time and the tokens of that time. */
function tokenBucket({ burst, perSecond }: TokenBucketOptions): Meter {
  assertPositive("burst", burst);
  assertPositive("perSecond", perSecond);
  const perMillisecond = perSecond / 1000;
  return {
    most: burst,
    lifetime: Math.min(Math.ceil(burst / perMillisecond), longestLifetime),
    take: (stored, cost, now) => {
      const [at, tokens] = stored ?? [now, burst];
      const time = Math.max(at, now);
      const left = Math.min(burst, tokens + (time - at) * perMillisecond);
      if (left >= cost - rounding * cost) {
        const remaining = Math.max(0, left - cost);
        return { ok: true, remaining, retryAfter: 0, state: [time, remaining] };
      }
      const retryAfter = Math.ceil((cost - left) / perMillisecond) + time - now;
      return { ok: false, remaining: left, retryAfter, state: stored! };
    },
  };
}

function assertPositive(option: string, value: number): void {
  if (value > 0 && value < Number.POSITIVE_INFINITY) return;
  throw new InvalidOptionError(option, "must be a number above 0", "rateLimit");
}
