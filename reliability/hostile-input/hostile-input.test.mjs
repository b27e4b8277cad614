import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Random } from "../shared/random.mjs";
import { assertSame } from "./assert-same.mjs";
import { openDecoders, passHostileInput } from "./hostile-input.mjs";

const inputs = 20_000;
const seed = Date.now();
let decoders = [];

beforeAll(async () => {
  decoders = await openDecoders();
});

afterAll(async () => {
  for (const { close } of decoders) await close?.();
});

// It takes some seconds, on whatever machine.
describe("input that is not valid", { timeout: 120_000 }, () => {
  it("is refused with an error that has a code", async () => {
    const { figures, problems } = await passHostileInput(decoders, inputs, new Random(seed));
    expect(problems, `seed ${seed}`).toEqual([]);
    expect(figures.inputs).toBeGreaterThanOrEqual(inputs);
  });

  it("is made from input that is valid", async () => {
    for (const { seeds, decode } of decoders)
      for (const [i, bytes] of seeds.entries()) await decode(bytes, i);
  });
});

describe("the check of hostile input", () => {
  const decoder = { name: "a decoder", weight: 1, seeds: [new Uint8Array(9)] };
  const pass = (decode) =>
    passHostileInput([{ ...decoder, decode }], 20, new Random(1)).then(({ problems }) => problems);

  it("finds an error without a code, a wrong value, and an input that takes much memory", async () => {
    const kept = [];
    const faults = [
      () => undefined.length,
      () => new Uint8Array(-1),
      () => assertSame(Uint8Array.of(1), Uint8Array.of(2)),
      () => kept.push(new Uint8Array(100 * 1024 * 1024)),
    ];
    for (const fault of faults) {
      expect(await pass(fault)).not.toEqual([]);
      kept.length = 0;
    }
    expect(await pass(() => undefined)).toEqual([]);
  });
});
