import { InvalidArgumentError } from "commander";

/**
 * Returns a moment of the command line: the versionstamp of a commit, or a time. A time without a
 * zone is local time, also a date alone, which begins at midnight.
 *
 * @throws {InvalidArgumentError} if it is neither.
 */
export function parseMoment(text: string): Date | string {
  if (/^[0-9a-f]{20}$/.test(text)) return text;
  // JavaScript takes a date alone for one of UTC.
  const time = new Date(/^\d{4}-\d\d-\d\d$/.test(text) ? `${text}T00:00` : text);
  if (!Number.isNaN(time.getTime())) return time;
  throw new InvalidArgumentError("It must be a time, or a versionstamp of 20 digits.");
}
