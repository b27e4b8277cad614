import { type EmbeddedKv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel, migrate } from "../src/index.js";
import { formatPlan, planMigration } from "../src/migrate.js";
import { schemaFunctions } from "../src/state/schema/manifests/schema-functions.js";

const id = z.string();
const functionsOf = (field: z.ZodType) => schemaFunctions(z.object({ id, field })).field;

describe("the functions of a schema", () => {
  it.each<[string, z.ZodType, z.ZodType]>([
    ["transform", z.string().transform((s) => s.length), z.string().transform((s) => s.length + 1)],
    ["refine", z.string(), z.string().refine((s) => s !== "")],
    ["check", z.string().check(() => undefined), z.string().check((one) => void one)],
    ["overwrite", z.string().overwrite((s) => s), z.string().overwrite((s) => `${s}!`)],
    ["trim", z.string(), z.string().trim()],
    ["toLowerCase", z.string().trim(), z.string().toLowerCase()],
    ["custom", z.custom((v) => v === 1), z.custom((v) => v === 2)],
    ["preprocess", z.preprocess((v) => v, id), z.preprocess((v) => `${v as string}`, id)],
    [
      "codec",
      z.codec(z.string(), z.number(), { decode: (s) => s.length, encode: (n) => `${n}` }),
      z.codec(z.string(), z.number(), { decode: Number, encode: (n) => `${n}` }),
    ],
    ["refine within", z.array(z.string()), z.array(z.string().refine((s) => s !== ""))],
    [
      "refine behind lazy",
      z.lazy(() => z.string().refine((s) => s > "a")),
      z.lazy(() => z.string().refine((s) => s > "b")),
    ],
  ])("differ by %s", (_, before, after) => {
    expect(functionsOf(after)).not.toBe(functionsOf(before));
    expect(functionsOf(after)).toBe(functionsOf(after));
  });

  it("do not depend on white space, defaults, descriptions and limits", () => {
    const plain = functionsOf(z.string().refine((s) => s !== ""));
    expect(functionsOf(z.string().refine((text) => text !== ""))).toBe(plain);
    // biome-ignore format: the white space is the difference.
    expect(functionsOf(z.string().min(2).refine((s)   => s   !== "").default("a").describe("b"))).toBe(plain);
    expect(functionsOf(z.email().max(20))).toBeUndefined();
  });
});

describe("a plan", () => {
  let kv: EmbeddedKv;
  beforeEach(async () => {
    kv = await openKv();
  });
  afterEach(() => kv.close());

  const planOf = async (schema: z.ZodObject) => {
    const models = { notes: defineModel({ name: "notes", schema, primaryKey: "id" } as never) };
    const db = await createDatabase({ kv, models });
    return { db, plan: await planMigration(db) };
  };
  const plain = z.object({ id, text: z.string() });
  const refined = z.object({ id, text: z.string().refine((text) => text !== "") });

  it("warns of functions that the database does not know, until it was migrated", async () => {
    await planOf(plain);
    const { db, plan } = await planOf(refined);
    expect(plan).toMatchObject({ isEmpty: true, isBreaking: false, needsMigration: false });
    expect(plan.warnings).toMatchObject([{ model: "notes", field: "text" }]);
    expect(formatPlan(plan)).toContain("Warning: The functions in the schema of the field text");
    expect((await migrate(db)).status).toBe("done");
    expect((await planOf(refined)).plan.warnings).toEqual([]);
    // A function that is gone accepts more than before.
    expect((await planOf(plain)).plan.warnings).toEqual([]);
  });

  it("warns of conditions on whole rows, and not of fields that have a step", async () => {
    await planOf(plain);
    const whole = z
      .object({ id, text: z.string(), title: z.string().trim().optional() })
      .refine((row) => row.text !== "");
    const { plan } = await planOf(whole);
    expect(plan.warnings.map(({ model, field }) => [model, field])).toEqual([["notes", undefined]]);
    const typed = z.object({ id, text: z.string().transform((text) => text.length) });
    const { plan: other } = await planOf(typed);
    expect(other).toMatchObject({ needsMigration: true, warnings: [] });
  });

  it("does not warn a program whose new schema was recorded by its first write", async () => {
    await planOf(plain);
    const extended = refined.extend({ title: z.string().trim().optional() });
    const { db } = await planOf(extended);
    await (db as never as { notes: { create(input: object): Promise<unknown> } }).notes.create({
      data: { id: "1", text: "a" },
    });
    expect((await planOf(extended)).plan.warnings).toEqual([]);
  });
});
