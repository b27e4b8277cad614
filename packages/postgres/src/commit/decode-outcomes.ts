import { InvalidVersionstampError, NotU64Error, type WriteOutcome } from "@keywright/core";
import { formatVersionstamp } from "@keywright/core/engine";
import type { EncodedBatch } from "./encode-batch.js";

/**
 * Decodes the answer of the function: the number of the batch, the writes that were not applied,
 * and the position of the condition that stopped each of them, counted from 1. It is 0 for a range
 * check, and negative for one whose versionstamp no commit has.
 */
export function decodeOutcomes(
  answer: string,
  { size, sources, rangeVersions }: EncodedBatch,
): WriteOutcome[] {
  const [sequence, failed = "", positions = ""] = answer.split(":");
  const number = Number(sequence);
  const outcomes: WriteOutcome[] = Array.from({ length: size }, (_, index) =>
    formatVersionstamp(number, index),
  );
  if (failed === "") return outcomes;
  const stoppedBy = positions.split(",");
  for (const [i, index] of failed.split(",").entries()) {
    const position = Number(stoppedBy[i]);
    const source = sources[position - 1];
    if (position < 0) {
      const version = rangeVersions[-position - 1]!;
      outcomes[Number(index)] = new InvalidVersionstampError(version, "no commit has it yet");
    } else {
      outcomes[Number(index)] =
        source === undefined ? null : new NotU64Error(source.type, source.key);
    }
  }
  return outcomes;
}
