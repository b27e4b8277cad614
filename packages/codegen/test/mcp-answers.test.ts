import { defineModel } from "@keywright/orm";
import { compileModel } from "@keywright/orm/codegen";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import * as z from "zod";
import { answerOf, errorAnswerOf, maxAnswerLength } from "../src/mcp/answer/answer.js";
import { bounded, lengthOf } from "../src/mcp/answer/bounded.js";
import { listModels } from "../src/mcp/tools/describe-model.js";

const json = fc.jsonValue({ maxDepth: 4 });

it("a value that fits is returned as it is", () => {
  fc.assert(
    fc.property(json, (value) => {
      expect(bounded(value, Math.max(100, lengthOf(value)))).toEqual({ value, cuts: [] });
    }),
  );
});

it("a value that does not fit is shortened to the limit, and says where", () => {
  const large = fc.record({
    text: fc.string({ maxLength: 3000, unit: "grapheme" }),
    list: fc.array(json, { maxLength: 200 }),
    names: fc.dictionary(fc.string({ minLength: 1 }), json, { maxKeys: 100 }),
  });
  fc.assert(
    fc.property(large, fc.integer({ min: 100, max: 2000 }), (value, limit) => {
      const { value: kept, cuts } = bounded(value, limit);
      expect(lengthOf(kept)).toBeLessThanOrEqual(limit);
      expect(cuts.length > 0).toBe(lengthOf(value) > limit);
      for (const { kept: some, of } of cuts) expect(some).toBeLessThan(of);
    }),
  );
});

it("small parts stay whole next to large ones", () => {
  const value = { id: "1", text: "a".repeat(10_000), tags: ["x", "y"], list: [1, 2, 3] };
  const { value: kept, cuts } = bounded(value, 500);
  expect(kept).toMatchObject({ id: "1", tags: ["x", "y"], list: [1, 2, 3] });
  expect(cuts).toEqual([{ at: "text", kept: expect.any(Number), of: 10_000 }]);
});

it("an answer has at most the maximum length, and says how to get the rest", () => {
  const rows = Array.from({ length: 500 }, (_, id) => ({ id, text: "a".repeat(1000) }));
  const answer = answerOf({ rows }, "Ask for fewer rows.");
  expect(lengthOf(answer)).toBeLessThanOrEqual(maxAnswerLength);
  expect(answer.shortened).toEqual({
    note: expect.stringMatching(/^The result has \d+ characters.* Ask for fewer rows\.$/),
    cuts: [{ at: "rows", kept: expect.any(Number), of: 500 }],
  });
  expect(answerOf({ rows: [] }, "")).toEqual({ result: { rows: [] } });
});

it("an answer has at most the maximum length, whatever the names in it are", () => {
  for (const character of ["a", '"', "\u0001", "€"]) {
    const names = Array.from({ length: 20 }, (_, i) => `${i}${character.repeat(90)}`);
    const row = Object.fromEntries(names.map((name) => [name, "a".repeat(5000)]));
    const answer = answerOf({ rows: [row] }, "Ask for fewer rows.");
    expect(lengthOf(answer)).toBeLessThanOrEqual(maxAnswerLength);
    expect(answer.shortened!.cuts.length).toBeGreaterThan(0);
  }
});

it("an error has at most 8,000 characters and its note", () => {
  const error = { code: "KW_ROW_INVALID", message: "m".repeat(50_000), remedy: "r", details: {} };
  const answer = errorAnswerOf(error);
  expect(lengthOf(answer)).toBeLessThan(9000);
  expect(answer).toMatchObject({ error: { code: "KW_ROW_INVALID", remedy: "r" } });
  expect(answer.shortened?.cuts).toEqual([{ at: "message", kept: expect.any(Number), of: 50_000 }]);
});

it("of many models, those that do not fit are listed by their names", () => {
  const schema = z.object({ id: z.string(), email: z.string(), born: z.date() });
  const models = Array.from({ length: 1000 }, (_, i) => {
    const model = defineModel({ name: `model${i}`, schema, primaryKey: "id" });
    return { property: `model${i}`, model: compileModel(model) };
  });
  const answer = answerOf(listModels(models), "");
  expect(answer).not.toHaveProperty("shortened");
  const { result } = answer as { readonly result: Record<"models" | "others", readonly unknown[]> };
  expect(result.models.length).toBeGreaterThan(100);
  expect(result.models.length + result.others.length).toBe(1000);
  expect(result.others.at(-1)).toBe("model999");
});
