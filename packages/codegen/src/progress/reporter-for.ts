import { barReporter } from "./bar-reporter.js";
import { lineReporter } from "./line-reporter.js";
import type { Reporter } from "./reporter.js";
import { tellSecondLooks } from "./second-look.js";

/** A bar on a terminal, lines elsewhere; on standard error without a stream. */
export function reporterFor(stream: NodeJS.WriteStream = process.stderr): Reporter {
  const canMoveCursor = stream.isTTY && process.env.TERM !== "dumb";
  return tellSecondLooks(canMoveCursor ? barReporter(stream) : lineReporter(stream));
}
