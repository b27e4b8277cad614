import type { Progress } from "@keywright/core";
import { units } from "../../progress/progress-text.js";
import type { ProgressReporter } from "../../progress/reporter.js";
import { reporterFor } from "../../progress/reporter-for.js";

/** Shows how many megabytes of a database's files were read. */
export function fileProgress(
  stream: NodeJS.WriteStream,
  label: string,
): ProgressReporter<Progress> {
  return reporterFor(stream, ({ phase, done, total = done, perSecond }) => ({
    phase,
    done: megabytes(done),
    total: megabytes(total),
    perSecond: perSecond / bytesPerMegabyte,
    model: label,
    unit: units.megabytes,
  }));
}

const bytesPerMegabyte = 1_000_000;

function megabytes(bytes: number): number {
  return Math.ceil(bytes / bytesPerMegabyte);
}
