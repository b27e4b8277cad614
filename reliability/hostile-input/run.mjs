// Passes changed bytes to all decoders: `npm run soak:hostile-input -- --inputs 5000000`.
// `--minutes 10` ends earlier. Exits with 1 if one throws an error without a code, decodes a wrong
// value, or takes much time or memory.
import { parseArgs } from "node:util";
import { Random } from "../shared/random.mjs";
import { writeResults } from "../shared/write-results.mjs";
import { openDecoders, passHostileInput } from "./hostile-input.mjs";

const { values } = parseArgs({
  options: {
    inputs: { type: "string", default: "5000000" },
    minutes: { type: "string", default: "Infinity" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
  },
});
const end = performance.now() + Number(values.minutes) * 60_000;
const inputsOfOneSeed = 50_000;
const decoders = await openDecoders();
const figures = { decoders: decoders.length, inputs: 0, accepted: 0, refused: 0, wrong: 0 };
for (let seed = Number(values.seed); figures.inputs < Number(values.inputs); seed++) {
  if (performance.now() >= end) break;
  const passed = await passHostileInput(decoders, inputsOfOneSeed, new Random(seed));
  for (const [name, count] of Object.entries(passed.figures)) figures[name] += count;
  figures.wrong += passed.problems.length;
  for (const problem of passed.problems) console.error(`seed ${seed}: ${problem}`);
}
for (const { close } of decoders) await close?.();
const { inputs, accepted, refused, wrong } = figures;
writeResults(
  "hostile-input",
  figures,
  `${inputs} inputs for ${decoders.length} decoders: ${refused} refused with a code, ` +
    `${accepted} accepted, ${wrong} with another error or a wrong value`,
);
if (wrong > 0) process.exitCode = 1;
