import { InvalidOptionError } from "../../errors/core-errors.js";

type Unit = "second" | "minute" | "hour" | "day" | "week";

/** A number and a unit, such as `"36 hours"` or `"7 days"`. */
export type LogLifetime = `${number} ${Unit | `${Unit}s`}`;

/** How long a database keeps what its commits have changed. */
export interface LogOptions {
  /** Older commits are removed from the log. The default is `"7 days"`. */
  readonly keep?: LogLifetime | undefined;
  /** The oldest commits are removed while the log has more bytes than this. No limit by default. */
  readonly maxBytes?: number | undefined;
}

/** The options as the database stores them. */
export interface LogSettings {
  readonly keepMilliseconds: number;
  readonly maxBytes: number | undefined;
}

const milliseconds: Readonly<Record<Unit, number>> = {
  second: 1000,
  minute: 60_000,
  hour: 3_600_000,
  day: 86_400_000,
  week: 604_800_000,
};

const optionNames = ["keep", "maxBytes"];

/** @throws {InvalidOptionError} if an option is not valid. */
export function logSettings(options: LogOptions): LogSettings {
  if (typeof options !== "object" || options === null)
    throw invalid("log", "must be an object or false");
  const unknown = Object.keys(options).find((name) => !optionNames.includes(name));
  if (unknown !== undefined)
    throw invalid(`log.${unknown}`, `is not an option; the options are ${optionNames.join(", ")}`);
  const { keep = "7 days", maxBytes } = options;
  if (maxBytes !== undefined && !(Number.isSafeInteger(maxBytes) && maxBytes > 0))
    throw invalid("log.maxBytes", "must be a whole number of bytes above 0");
  return { keepMilliseconds: lifetimeOf(keep), maxBytes };
}

function lifetimeOf(keep: unknown): number {
  const [, count, unit] = /^(\d+(?:\.\d+)?) (second|minute|hour|day|week)s?$/.exec(`${keep}`) ?? [];
  const lifetime = Number(count) * (milliseconds[unit as Unit] ?? Number.NaN);
  if (lifetime > 0) return lifetime;
  throw invalid("log.keep", 'must be a number above 0 and a unit, such as "36 hours" or "7 days"');
}

function invalid(option: string, reason: string): InvalidOptionError {
  return new InvalidOptionError(option, reason, "openKv");
}
