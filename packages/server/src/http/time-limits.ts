import { InvalidOptionError } from "@keywright/core";

/**
 * How long clients may take, in milliseconds. Watches and the connections of `openKv(url)` may last
 * as long as they like.
 */
export interface TimeLimits {
  /** From the beginning of a connection or request to the end of its headers: 10,000. */
  readonly headers: number;
  /** From the beginning of a request to the end of its body: 30,000. */
  readonly request: number;
  /** How long a client may read nothing of an answer that waits for it: 30,000. */
  readonly answer: number;
  /** How long a connection may have no request: 60,000. */
  readonly idle: number;
}

const defaults: TimeLimits = { headers: 10_000, request: 30_000, answer: 30_000, idle: 60_000 };
/** The longest delay of a timer. */
const longest = 2 ** 31 - 1;

/** @throws {InvalidOptionError} if a time is not valid. */
export function timeLimits(given: Partial<TimeLimits> | undefined): TimeLimits {
  const limits = { ...defaults, ...given };
  for (const [name, value] of Object.entries(limits)) {
    if (!Object.hasOwn(defaults, name))
      throw new InvalidOptionError("timeLimits", `must not have the field ${name}`, "serve");
    if (!Number.isInteger(value) || value < 1 || value > longest)
      throw new InvalidOptionError(
        "timeLimits",
        `must have whole milliseconds, at least 1, as ${name}`,
        "serve",
      );
  }
  return limits;
}
