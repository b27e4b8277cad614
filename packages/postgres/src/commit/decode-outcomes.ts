import { NotU64Error, type WriteOutcome } from "@keywright/core";
import { formatVersionstamp } from "@keywright/core/engine";
import { refused } from "../sql/operations.js";
import type { EncodedBatch } from "./encode-batch.js";

/** Decodes the answer of the function: the number of the batch, and the outcome of each write. */
export function decodeOutcomes(answer: string, { sources }: EncodedBatch): WriteOutcome[] {
  const [sequence = "", outcomes = ""] = answer.split(":");
  return outcomes.split(",").map((text): WriteOutcome => {
    const outcome = Number(text);
    if (outcome >= 0) return formatVersionstamp(Number(sequence), outcome);
    if (outcome === refused) return null;
    const source = sources[-outcome - 2]!;
    return new NotU64Error(source.type as "sum" | "min" | "max", source.key);
  });
}
