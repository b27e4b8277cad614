import { fileURLToPath } from "node:url";
import * as fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { loadConfig } from "../src/project/config/load-config.js";
import { findModels } from "../src/project/models/find-models.js";
import type { Fakes } from "../src/seed/values/fakes.js";
import { generateValue } from "../src/seed/values/generate-value.js";
import { loadFakes } from "../src/seed/values/load-fakes.js";
import type { Schema } from "../src/seed/values/place.js";
import { UnfillableError } from "../src/seed/values/unfillable-error.js";
import { enums, everyTypeModule } from "./every-type.js";
import { config, createProject } from "./project.js";

const folder = fileURLToPath(new URL(".", import.meta.url));

const project = await createProject({
  "keywright.config.ts": config,
  "models/everything.ts": everyTypeModule,
  ...enums,
});
afterAll(() => project.remove());
const [everything] = await findModels(await loadConfig(project.folder));
const everyType: Readonly<Record<string, Schema>> = everything!.model.schema.shape;

/** Values of these cannot be stored, or only the project can make them. */
const unfillable = ["symbol", "function", "promise", "ownClass", "branch", "treeInTrees"];

/** Checks, formats and conditions. */
const checked = {
  multiple: z.number().multipleOf(5).min(3).max(99),
  multipleOfFraction: z.number().multipleOf(0.05).min(1),
  multipleOfTwo: z.int().multipleOf(4).multipleOf(6).max(500),
  narrow: z.number().gt(0).lt(0.001),
  oneInteger: z.int().min(7).max(7),
  between: z.number().int().gt(1).lt(3),
  negative: z.number().negative().int(),
  farBelow: z.number().max(-5e9),
  int32: z.int32(),
  uint32: z.uint32(),
  float32: z.float32(),
  bigintRange: z.bigint().min(5n).max(10n),
  bigintMultiple: z.bigint().multipleOf(7n),
  bigintFar: z.bigint().gt(2n ** 70n),
  bigintBelow: z.bigint().lt(-5n),
  uint64: z.uint64(),
  day: z.date().min(new Date("2024-01-01")).max(new Date("2024-01-02")),
  future: z.date().min(new Date("2100-01-01")),
  longAgo: z.date().max(new Date("1900-01-01")),
  pattern: z.string().regex(/^[a-z]+(-[a-z]+)*$/),
  lookahead: z.string().regex(/^(?=.*\d)[a-z\d]{8}$/),
  patternWithLength: z
    .string()
    .regex(/^[a-z]+$/)
    .min(8)
    .max(10),
  slug: z
    .string()
    .regex(/^[a-z0-9]+(?:-[a-z0-9]+)*$/)
    .max(10),
  longPattern: z.string().regex(/^\d+$/).length(30),
  unicodePattern: z.string().regex(/^\p{Lu}\p{L}+ (?<rest>[\p{L}\d]+)$/u),
  starts: z.string().startsWith("https://").endsWith("/x").max(30),
  includes: z.string().includes("abc").max(8),
  lower: z.string().lowercase(),
  upper: z.string().uppercase().length(3),
  trimmed: z.string().trim().min(1).toLowerCase(),
  exactLength: z.string().length(64),
  emptyOnly: z.string().max(0),
  shortEmail: z.email().max(12),
  emailOfString: z.string().email().endsWith(".com"),
  httpsUrl: z.url({ protocol: /^https$/ }),
  httpUrl: z.httpUrl(),
  url: z.url(),
  uuid: z.uuid(),
  uuid7: z.uuidv7(),
  guid: z.guid(),
  cuid: z.cuid(),
  cuid2: z.cuid2(),
  nanoid: z.nanoid(),
  ulid: z.ulid(),
  xid: z.xid(),
  ksuid: z.ksuid(),
  jwt: z.jwt({ alg: "HS256" }),
  e164: z.e164(),
  emoji: z.emoji(),
  ipv4: z.ipv4(),
  ipv6: z.ipv6(),
  cidrv4: z.cidrv4(),
  cidrv6: z.cidrv6(),
  mac: z.mac(),
  hostname: z.hostname(),
  hex: z.hex(),
  sha256: z.hash("sha256"),
  md5: z.hash("md5", { enc: "base64" }),
  base64: z.base64(),
  base64url: z.base64url(),
  date: z.iso.date(),
  time: z.iso.time({ precision: -1 }),
  datetime: z.iso.datetime({ precision: 6, offset: true }),
  localDatetime: z.iso.datetime({ local: true, precision: 0 }),
  duration: z.iso.duration(),
  refinedNumber: z
    .int()
    .min(0)
    .max(20)
    .refine((n) => n % 2 === 0),
  refinedText: z.string().refine((text) => text.length % 3 === 0),
  refinedObject: z.object({ a: z.int().max(100), b: z.int().max(100) }).refine(({ a, b }) => a < b),
  superRefined: z.array(z.int()).superRefine((list, { addIssue }) => {
    if (new Set(list).size !== list.length) addIssue("twice");
  }),
  asyncRefined: z.string().refine(async (text) => text !== "never"),
  sizedBytes: z.instanceof(Uint8Array).refine((bytes) => bytes.length >= 16),
  sizedSet: z.set(z.enum(["a", "b", "c"])).min(2),
  sizedMap: z.map(z.int(), z.string()).min(2).max(4),
  sizedArray: z.array(z.boolean()).length(7),
  nonempty: z.array(z.string()).nonempty(),
  minRecord: z.record(z.string(), z.int()).check(z.minSize(0)),
  intersectionOfNumbers: z.intersection(z.number().min(5), z.number().max(8)),
  intersectionOfFormats: z.intersection(z.email(), z.string().max(30)),
  pipeToNumber: z
    .string()
    .transform((text) => text.length)
    .pipe(z.int().max(20)),
  pipeToEnum: z.string().pipe(z.enum(["a", "b"])),
  stringBool: z.stringbool(),
  customFunction: z.custom<string>((value) => typeof value === "string" && value.endsWith("px")),
  property: z.array(z.string()).check(z.property("length", z.number().min(2))),
} satisfies Record<string, z.ZodType>;

function generated(fakes: Fakes, name: string, schema: Schema): unknown {
  const place = { fakes, model: "users", path: [name], attempt: 0, depth: 1, isPresent: false };
  return generateValue(schema, place);
}

/** Small, so that the test is fast. */
const numRuns = 5;

/** Half of the seeds are small, because people choose such. */
const seeds = fc.oneof(fc.nat(100), fc.nat(2 ** 31 - 1));

describe("a generated value", () => {
  it.each(Object.keys(everyType).filter((name) => !unfillable.includes(name)))(
    "of %s passes its schema",
    async (name) => {
      // An optional field may be absent, which is not the same as undefined.
      const schema = z.object({ [name]: everyType[name] as z.ZodType });
      await fc.assert(
        fc.asyncProperty(seeds, async (seed) => {
          const value = generated(await loadFakes(folder, seed), name, schema);
          expect(await z.safeParseAsync(schema, value)).toMatchObject({ success: true });
        }),
        { numRuns },
      );
    },
  );

  it.each(Object.keys(checked) as (keyof typeof checked)[])(
    "of %s passes all checks",
    async (name) => {
      await fc.assert(
        fc.asyncProperty(seeds, async (seed) => {
          const value = generated(await loadFakes(folder, seed), name, checked[name]);
          expect(await z.safeParseAsync(checked[name], value)).toMatchObject({ success: true });
        }),
        { numRuns },
      );
    },
  );

  it("is refused if there is none, with the path and the reason", async () => {
    const fakes = await loadFakes(folder, 1);
    const refused: readonly (readonly [z.ZodType, readonly (string | number)[], string])[] = [
      [z.symbol(), ["x"], "no value can be generated for z.symbol()"],
      [z.array(z.never()).min(1), ["x", 0], "z.never()"],
      [
        z.object({ a: z.instanceof(class Own {}) }),
        ["x", "a"],
        "the class Own is the project's own",
      ],
      [z.object({ a: z.string().refine(() => false, "no luck") }), ["x", "a"], "no luck"],
      [z.string().regex(/^(?<!a)b$/), ["x"], "parts that cannot be followed"],
      [z.literal("a").refine(() => false), ["x"], "none of 200 generated values passed"],
      [z.array(z.string()).min(3).max(2), ["x"], "above its maximum"],
    ];
    for (const [schema, path, reason] of refused) {
      let error: unknown;
      try {
        generated(fakes, "x", schema);
      } catch (thrown) {
        error = thrown;
      }
      expect(error).toBeInstanceOf(UnfillableError);
      expect(error).toMatchObject({ path, message: expect.stringContaining(reason) });
    }
    for (const name of ["symbol", "function", "promise", "ownClass"]) {
      expect(() => generated(fakes, name, everyType[name]!)).toThrow(UnfillableError);
    }
  });

  it("is the same with the same seed, and another with another one", async () => {
    const all = z.object(checked);
    const one = async (seed: number) => generated(await loadFakes(folder, seed), "all", all);
    expect(await one(42)).toEqual(await one(42));
    expect(await one(43)).not.toEqual(await one(42));
  });

  it("is plausible for the name of its field", async () => {
    const fakes = await loadFakes(folder, 7);
    const text = (name: string) => generated(fakes, name, z.string());
    expect(text("contactEmail")).toMatch(/^[^@\s]+@[^@\s]+$/);
    expect(text("homepageUrl")).toMatch(/^https?:/);
    expect(generated(fakes, "age", z.int())).toSatisfy((age: number) => age >= 18 && age <= 90);
    expect(generated(fakes, "age", z.int().max(5))).toSatisfy((age: number) => age <= 5);
  });
});
