import { rowManifest } from "@keywright/orm/codegen";
import * as fc from "fast-check";
import ts from "typescript";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { rowSource } from "../src/migration-source/row-source.js";
import { compile } from "./compile.js";
import { createProject } from "./project.js";

/** Runs what was written for a schema, and returns it. */
async function written(schema: z.ZodObject, primaryKey: readonly string[] = []) {
  const manifest = rowManifest(schema, primaryKey);
  const { constants, text, inexact } = await rowSource(manifest, {
    side: "from",
    order: Object.keys(schema.shape).reverse(),
    defaults: new Map(),
    isStrict: false,
    taken: new Set(),
  });
  const module = `const make = (z) => { ${constants.join("\n")} return ${text}; };`;
  const { outputText } = ts.transpileModule(module, {
    compilerOptions: { target: ts.ScriptTarget.ESNext },
  });
  const made = (new Function(`${outputText} return make;`)() as (zod: typeof z) => z.ZodObject)(z);
  return { constants, text, inexact, manifest, made: rowManifest(made, primaryKey) };
}

interface Tree {
  readonly left?: Tree | undefined;
  readonly right: readonly Tree[];
}
const tree: z.ZodType<Tree> = z.object({
  get left() {
    return tree.optional();
  },
  get right() {
    return z.array(tree);
  },
});

const leaves: readonly z.ZodType[] = [
  ...[z.email(), z.uuid(), z.uuidv4(), z.url({ protocol: /^https$/, hostname: /a\/b/i }), z.ulid()],
  ...[z.iso.datetime({ offset: true, precision: 3 }), z.iso.date(), z.iso.time(), z.jwt()],
  ...[z.emoji(), z.mac(), z.base64(), z.e164(), z.hostname(), z.hash("sha256"), z.httpUrl()],
  z.stringFormat("own", /^\w+$/),
  z.email({ pattern: /x@y/ }),
  z.email().startsWith("a").min(3),
  z.string().lowercase().endsWith("z"),
  z.templateLiteral(["a-", z.number()]),
  ...[z.string().length(2), z.string().min(1).max(4), z.int(), z.int32(), z.float32(), z.float64()],
  ...[
    z.int().positive(),
    z.int().min(-5),
    z.number().gt(-1.5).lt(1e21),
    z.number().multipleOf(0.1),
  ],
  z.number().multipleOf(3).multipleOf(2),
  ...[
    z
      .bigint()
      .gt(1n)
      .lte(2n ** 70n),
    z.bigint().multipleOf(3n),
    z.int64(),
    z.boolean(),
    z.null(),
  ],
  ...[z.date(), z.date().min(new Date(0)).max(new Date(1)), z.date().check(z.gt(new Date(5)))],
  z.literal([1n, Number.POSITIVE_INFINITY, -1, true, "x", null, undefined]),
  ...[z.instanceof(Uint8Array), z.instanceof(URL), z.custom<string>(), z.undefined(), z.nan()],
  ...[z.any(), z.unknown(), z.never(), z.json(), tree as z.ZodType, z.symbol(), z.object({})],
  z.string().transform((text) => text.length),
  z.transform((value) => value),
  z.string().nullable().optional().nonoptional(),
  z.intersection(z.string(), z.union([z.email(), z.url()])),
  z.object({ "a\\b": z.string(), "\\": z.int() }),
];

/** Those that contain themselves: not all that can be around them is told exactly by a manifest. */
const cyclic = new Set(leaves.filter((leaf) => leaf === tree || leaf instanceof z.ZodLazy));
const lists = [...cyclic].map((leaf) => z.array(leaf));

/** Texts with all that could leave a literal or a comment. */
const text = fc.oneof(
  fc.string({ unit: "binary", maxLength: 5 }),
  fc.constantFrom(
    "'\"`${x}*/",
    "\u2028//",
    "__proto__",
    "constructor",
    "\ud800",
    "\\",
    "\n",
    "a b",
    "class",
  ),
);
/**
 * Texts that may be names of fields. V8 of Node.js 24 and 26 has a bug: once JSON.parse has read an
 * object with the key `\`, it reads an escaped key in the same place, such as `"\ud800"`, as `\`
 * too. Zod copies its JSON schemas through JSON.
 */
const name = text.filter((one) => one !== "__proto__" && !one.includes("\\"));
const escaped = text.map((part) => part.replaceAll(/[\\^$.*+?()[\]{}|/-]/g, "\\$&"));
const uniqueTexts = fc.uniqueArray(name, { minLength: 1, maxLength: 4 });

const { field } = fc.letrec<{ schema: z.ZodType; field: z.ZodType }>((tie) => {
  const part = tie("schema");
  const shape = fc
    .array(fc.tuple(name, tie("field")), { maxLength: 3 })
    .map((entries) => Object.fromEntries(entries));
  return {
    field: fc.oneof(
      part,
      part.map((inner) => inner.default(null as never)),
      part.map((inner) => inner.default(null as never).optional()),
      part.map((inner) => inner.optional().nonoptional()),
    ),
    schema: fc.oneof(
      { maxDepth: 3, withCrossShrink: true },
      fc.constantFrom(...leaves.filter((leaf) => !cyclic.has(leaf))),
      uniqueTexts.map((values) => z.enum(values)),
      fc.array(text, { minLength: 1, maxLength: 3 }).map((values) => z.literal(values)),
      escaped.map((pattern) => z.string().regex(new RegExp(pattern))),
      part.map((inner) => inner.nullable()),
      part.map((inner) => inner.optional()),
      part.map((inner) => z.array(inner).min(1)),
      part.map((inner) => z.set(inner).max(3)),
      part.map((inner) => z.record(z.string().min(2), inner)),
      fc.tuple(uniqueTexts, part).map(([keys, inner]) => z.record(z.enum(keys), inner)),
      fc.tuple(uniqueTexts, part).map(([keys, inner]) => z.partialRecord(z.enum(keys), inner)),
      fc.tuple(part, part).map(([a, b]) => z.map(a, b).min(1)),
      fc.tuple(part, part).map(([a, b]) => z.tuple([a, b.optional()])),
      fc.tuple(part, part).map(([a, b]) => z.tuple([a], b)),
      fc.tuple(part, part).map(([a, b]) => z.union([a, b])),
      shape.map((fields) => z.object(fields)),
      shape.map((fields) => z.looseObject(fields)),
      fc.tuple(shape, part).map(([fields, others]) => z.object(fields).catchall(others)),
      part.map((inner) => inner.transform((value: unknown) => value)),
    ),
  };
});

describe("the source of a row's schema", () => {
  it.each([...leaves, ...lists].map((leaf, i) => [i, leaf] as const))(
    "has the manifest of leaf %i",
    async (_, leaf) => {
      const { inexact, made, manifest } = await written(z.object({ leaf, maybe: leaf.optional() }));
      expect(inexact).toEqual([]);
      expect(made).toEqual(manifest);
    },
  );

  it("has the manifest of any schema, and quotes all that is in it", async () => {
    const rows = fc
      .dictionary(
        name.filter((one) => one !== "*"),
        field,
        { minKeys: 1, maxKeys: 3 },
      )
      .map((shape) => z.object(shape));
    await fc.assert(
      fc.asyncProperty(rows, async (row) => {
        const { inexact, made, manifest, text: source } = await written(row);
        expect(inexact, source).toEqual([]);
        expect(made.hash, source).toBe(manifest.hash);
      }),
      { numRuns: 100 },
    );
  });

  it.each([
    ["what may be beside its fields", z.looseObject({ id: z.string() })],
    ["what else of a type may be", z.object({ id: z.string() }).catchall(z.int())],
    ["what else of itself may be", z.object({ id: z.string() }).catchall(tree as z.ZodType)],
  ])("has %s", async (_, row) => {
    const { inexact, made, manifest } = await written(row, ["id"]);
    expect(inexact).toEqual([]);
    expect(made).toEqual(manifest);
  });

  it("says above a field what it should be where it cannot be written, and writes the others", async () => {
    class Own {}
    const cycle: z.ZodType = z.lazy(() => z.map(z.string(), cycle));
    const own = z.instanceof(Own);
    const nest: z.ZodType = z.object({ n: z.int() }).catchall(z.lazy(() => nest));
    const {
      inexact,
      text: source,
      made,
    } = await written(
      z.object({ id: z.string(), own, nest, cycle, list: z.array(own).optional() }),
    );
    expect(inexact).toEqual(["list", "cycle", "nest", "own"]);
    expect(source).toContain(
      '// Correct this field, so that its manifest is {"schema":{"type":"x-instance","class":"Own"},"optional":false,"defaulted":false}\nown: z.unknown().nonoptional()',
    );
    expect(Object.keys(made.fields)).toEqual(["cycle", "id", "list", "nest", "own"]);
  });

  it("runs nothing of what a manifest says", async () => {
    const broken = "globalThis.broken = true";
    const evils = [
      `"); ${broken}; ("`,
      `1), ${broken}, (`,
      `a: 1 }), ${broken}, ({ b`,
      `min(${broken})`,
    ];
    const parts = evils.flatMap((evil) => [
      { type: "x-instance", class: evil },
      { type: "x-bigint", minimum: evil, multipleOf: [evil] },
      { type: "string", format: evil },
      { type: "string", format: [evil] },
      { type: "string", format: "url", hostname: `/${evil}/${evil}` },
      { type: "string", pattern: `/${evil}`, flags: evil },
      { type: "string", minLength: evil },
      { type: "number", minimum: evil },
      { type: "x-date", minimum: evil },
      { type: evil },
      { enum: [{ "x-bigint": evil, "x-number": evil }] },
      { enum: [evil] },
      { type: "string", format: "uuid", [evil]: 1 },
      { type: "object", properties: { [evil]: { type: "string" } } },
      { $ref: evil },
    ]);
    const fields = Object.fromEntries(
      parts.map((part, i) => [`f${i}`, { schema: part, optional: false, defaulted: false }]),
    );
    await rowSource(
      { hash: "", primaryKey: [], fields },
      { side: "from", order: [], defaults: new Map(), isStrict: false, taken: new Set() },
    );
    expect(globalThis).not.toHaveProperty("broken");
  });

  it("compiles", async () => {
    const shape = Object.fromEntries(leaves.map((leaf, i) => [`leaf${i}`, leaf]));
    const looseRecord = z.looseRecord(z.string().regex(/^a/), z.int());
    const row = z.object({ ...shape, looseRecord, trees: z.array(tree) });
    const { constants, text: source } = await written(row.catchall(z.array(z.json())));
    const lines = ['import * as z from "zod";', ...constants, `export const row = ${source};`];
    const project = await createProject({ "row.ts": lines.join("\n") });
    try {
      expect(compile([project.path("row.ts")])).toEqual([]);
    } finally {
      await project.remove();
    }
  });

  it("is in the order of the model's fields", async () => {
    const { text: source } = await written(z.object({ b: z.string(), a: z.int() }));
    expect(source.replaceAll("\n", " ")).toBe("z.object({  a: z.int(),  b: z.string() })");
  });
});
