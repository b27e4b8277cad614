import { barReporter } from "./bar-reporter.js";
import { lineReporter } from "./line-reporter.js";
import type { Reporter } from "./reporter.js";
import { withSecondPass } from "./with-second-pass.js";

/** Returns a reporter that shows a bar on a terminal, and lines elsewhere. */
export function reporterFor(stream: NodeJS.WriteStream = process.stderr): Reporter {
  const canMoveCursor = stream.isTTY && process.env.TERM !== "dumb";
  return withSecondPass(canMoveCursor ? barReporter(stream) : lineReporter(stream));
}
