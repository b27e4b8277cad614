import { InvalidOptionError } from "../errors/core-errors.js";

/** The longest time of a timer, in milliseconds: about 24 days. */
export const longestTimer: number = 2 ** 31 - 1;

/** The longest time after which an entry expires, in milliseconds: 100 years of 365 days. */
export const longestLifetime: number = 36_500 * 86_400_000;

/** @throws {InvalidOptionError} if an option is not a number from `least` to `most`. */
export function assertMilliseconds(
  option: string,
  value: number,
  { least, most }: { readonly least: number; readonly most: number },
  operation: string,
): void {
  if (typeof value === "number" && value >= least && value <= most) return;
  const reason = `must be a number of milliseconds from ${least} to ${most}`;
  throw new InvalidOptionError(option, reason, operation);
}
