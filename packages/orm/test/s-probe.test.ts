import { it } from "vitest";
import * as z from "zod";
import { rowManifest } from "../src/schema/row-manifest.js";
it("x", () => {
  const N = z.object({ v: z.string(), get next() { return N.optional(); } });
  const m: any = z.lazy(() => z.map(z.string(), m));
  const tests: Record<string, z.ZodType> = {
    nullish: z.string().nullish(), optarr: z.array(z.string().optional()),
    disc: z.discriminatedUnion("k", [z.object({ k: z.literal("a") }), z.object({ k: z.literal("b"), o: z.number().default(5), p: z.any() })]),
    email: z.email().startsWith("x"), e2: z.email(), u4: z.uuidv4(), url: z.url({ hostname: /x/i }), dt: z.iso.datetime({ offset: true }), ti: z.iso.time(), da: z.iso.date(), b64: z.base64(), rx: z.string().regex(/a/i),
    rec: z.record(z.string(), z.number()), erec: z.record(z.enum(["a", "b"]), z.number()), int: z.int(), inst: z.instanceof(Uint8Array),
    inter: z.intersection(z.object({ a: z.string() }), z.object({ b: z.string() })), loose: z.looseObject({ a: z.string() }),
    N, N2: z.object({ n: N, a: z.array(N) }), map: z.map(z.string(), z.date()), m, tup: z.tuple([z.string(), z.number().optional()], z.boolean()),
    tr: z.string().transform((x) => x.length), pre: z.preprocess((v) => v, z.number()), codec: z.codec(z.string(), z.date(), { decode: (x) => new Date(x), encode: (x) => x.toISOString() }),
    tl: z.templateLiteral(["a", z.number()]), date: z.date().min(new Date(0)).describe("x").refine(() => true), big: z.int64().gt(5n), lit: z.literal(["a", 1, null, 2n, undefined]),
    d: z.string().min(2).describe("x").default("abc").meta({ id: "q", title: "t" }), bool: z.literal([true, false]), any: z.any(), custom: z.custom<string>(), catch: z.string().catch("x"), opt2: z.string().default("x").optional(), never: z.never(), set: z.set(z.number()).min(2), sb: z.stringbool(), ro: z.string().readonly(), en: z.enum({ A: 1, B: "b" }), un: z.union([z.string(), z.number(), z.null()]), x: z.undefined(), nonopt: z.nonoptional(z.string().optional()), trim: z.string().trim().min(1), mul: z.number().multipleOf(2).min(0), nul: z.object({a: z.string()}).nullable(), jwt: z.jwt({alg:"HS256"}), file: z.file(), json: z.json(), func: z.function() as never,
  };
  for (const [k, s] of Object.entries(tests)) { const f = rowManifest(z.object({ f: s }), ["f"]).fields.f!; console.log(k, f.optional ? "opt" : "", f.defaulted ? "def" : "", JSON.stringify(f.schema)); }
  const big = z.object(Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`f${i}`, i % 2 ? z.string().min(1) : z.date()])));
  const t = performance.now(); for (let i = 0; i < 100; i++) rowManifest(big, ["f0"]); console.log("ms per 20-field manifest", (performance.now() - t) / 100);
});
