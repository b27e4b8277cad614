import { NotU64Error, type WriteOutcome } from "@keywright/core";
import { formatVersionstamp } from "@keywright/core/engine";
import type { EncodedBatch } from "./encode-batch.js";

/**
 * Decodes the answer of the function: the number of the batch, the writes that were not applied,
 * and the position of the condition that stopped each of them, counted from 1.
 */
export function decodeOutcomes(answer: string, { size, sources }: EncodedBatch): WriteOutcome[] {
  const [sequence, failed = "", positions = ""] = answer.split(":");
  const number = Number(sequence);
  const outcomes: WriteOutcome[] = Array.from({ length: size }, (_, index) =>
    formatVersionstamp(number, index),
  );
  if (failed === "") return outcomes;
  const stoppedBy = positions.split(",");
  for (const [i, index] of failed.split(",").entries()) {
    const source = sources[Number(stoppedBy[i]) - 1];
    outcomes[Number(index)] =
      source === undefined ? null : new NotU64Error(source.type, source.key);
  }
  return outcomes;
}
