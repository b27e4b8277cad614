import { getHeapStatistics } from "node:v8";
import { isKeywrightError } from "@keywright/core";
import { openCommandDecoders } from "./command-decoders.mjs";
import { coreDecoders, openCursorDecoders } from "./core-decoders.mjs";
import { openFileDecoders } from "./file-decoders.mjs";
import { openModelDecoders } from "./model-decoders.mjs";
import { mutate } from "./mutate.mjs";

/** One input may take this CPU time, and this memory, beside the garbage of others. */
const maxMilliseconds = 5000;
const maxBytes = 64 * 1024 * 1024;

/**
 * Opens all decoders. Each is
 * - `name` and `weight`: how many of the inputs it has, in proportion to the others;
 * - `seeds`: valid bytes;
 * - `seal`: gives changed bytes valid checksums;
 * - `decode(bytes, seed)`: decodes bytes; throws an error without a code if the result is wrong;
 * - `isRefusal(error)`: true for further errors that say that the bytes are not valid;
 * - `close`.
 */
export async function openDecoders() {
  return [
    ...coreDecoders(),
    ...(await openCursorDecoders()),
    ...(await openFileDecoders()),
    ...(await openModelDecoders()),
    ...(await openCommandDecoders()),
  ];
}

/** Passes changed bytes to all decoders. Returns how many were accepted and what is wrong. */
export async function passHostileInput(decoders, inputs, random) {
  const figures = { inputs: 0, accepted: 0, refused: 0 };
  const problems = [];
  const weights = decoders.reduce((sum, { weight }) => sum + weight, 0);
  for (const decoder of decoders) {
    const count = Math.ceil((inputs * decoder.weight) / weights);
    for (let i = 0; i < count; i++) {
      const outcome = await passOne(decoder, random, problems);
      figures.inputs++;
      figures[outcome]++;
    }
  }
  return { figures, problems };
}

async function passOne(decoder, random, problems) {
  const { name, seeds, seal, decode, isRefusal = () => false } = decoder;
  const seed = random.below(seeds.length);
  let bytes = mutate(seeds[seed], seeds, random);
  if (seal !== undefined && random.next() < 0.7) bytes = seal(bytes);
  const fail = (problem) => {
    problems.push(`${name}: ${problem}: ${Buffer.from(bytes).toString("hex").slice(0, 2000)}`);
  };
  const [start, before] = [process.cpuUsage(), usedBytes()];
  let outcome = "accepted";
  try {
    const result = decode(bytes, seed);
    if (result instanceof Promise) await result;
  } catch (error) {
    outcome = "refused";
    if (!isKeywrightError(error) && !isRefusal(error)) fail(error?.stack ?? String(error));
  }
  const used = usedBytes() - before;
  if (used > maxBytes) fail(`it takes ${used} bytes`);
  const { user, system } = process.cpuUsage(start);
  const duration = Math.round((user + system) / 1000);
  if (duration > maxMilliseconds) fail(`it takes ${duration} ms of CPU time`);
  return outcome;
}

function usedBytes() {
  const { used_heap_size, external_memory } = getHeapStatistics();
  return used_heap_size + external_memory;
}
