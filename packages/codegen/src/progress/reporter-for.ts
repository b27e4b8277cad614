import { barReporter } from "./bar-reporter.js";
import { lineReporter } from "./line-reporter.js";
import type { ShownProgress } from "./progress-text.js";
import type { ProgressReporter } from "./reporter.js";
import { withSecondPass } from "./with-second-pass.js";

/**
 * Returns a reporter that shows a bar on a terminal, and lines elsewhere.
 *
 * @param shown adds to a progress what is shown of it.
 */
export function reporterFor<P>(
  stream: NodeJS.WriteStream = process.stderr,
  shown: (progress: P) => ShownProgress,
): ProgressReporter<P> {
  const canMoveCursor = stream.isTTY && process.env.TERM !== "dumb";
  const { show, stop } = withSecondPass(canMoveCursor ? barReporter(stream) : lineReporter(stream));
  return { onProgress: (progress) => show(shown(progress)), stop };
}
