import type { EmbeddedKv } from "@keywright/core";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { generate } from "../src/generate/generate.js";
import { type LoadedConfig, loadConfig } from "../src/project/config/load-config.js";
import { compile } from "./compile.js";
import { enums } from "./every-type.js";
import { config, createProject, type Project } from "./project.js";

/**
 * Fields that are stored as they are given, by which rows are upserted without saying them again.
 */
const givenFields = {
  branded: 'z.string().brand<"Branded">()',
  brandedBoth: 'z.string().brand<"Both", "inout">()',
  brandedNull: 'z.string().brand<"Null">().nullable()',
  role: "z.enum(Role)",
  named: 'z.enum({ Small: "s", Large: "l" })',
  annotated: "z.string() as unknown as z.ZodType<`a${string}`>",
  template: 'z.templateLiteral(["v", z.number()])',
  custom: "z.custom<`c${string}`>()",
  long: `z.enum(["a", "${"b".repeat(20)}", "${"c".repeat(20)}"])`,
  nullable: "z.string().nullable()",
  nullish: "z.number().nullish()",
  piped: "z.string().pipe(z.string().min(1))",
};

/** Fields of which a created row may have another value than the one that is given. */
const otherFields = {
  transformed: "z.string().transform((text) => text.length)",
  decoded:
    "z.codec(z.iso.datetime(), z.date(), { decode: (text) => new Date(text), encode: (date) => date.toISOString() })",
  turned: "z.transform((date: Date) => date.getTime())",
  brandedTransform: 'z.string().transform((text) => text.length).brand<"Length">()',
  decodedText:
    'z.codec(z.string(), z.string(), { decode: (text) => "org:" + text, encode: (text) => text.slice(4) })',
  transformedText: 'z.string().transform((text) => text + "!").pipe(z.string().min(1))',
  transformedOption: 'z.union([z.string().transform((text) => text + "!"), z.string()])',
  brandedInput: 'z.string().brand<"Input", "in">()',
};

const allFields = { ...givenFields, ...otherFields };

function suffix(field: string): string {
  return field[0]!.toUpperCase() + field.slice(1);
}

const models = `import { defineModel } from "@keywright/orm";
import * as z from "zod";
import { Role } from "../enums.js";

export const Thing = defineModel({
  name: "things",
  schema: z.object({
    id: z.ulid().brand<"ThingId">(),
    ${Object.entries(allFields)
      .map(([name, schema]) => `${name}: ${schema},`)
      .join("\n    ")}
  }),
  primaryKey: "id",
  indexes: {
    ${Object.keys(allFields)
      .map((name) => `by${suffix(name)}: { key: "${name}", unique: true },`)
      .join("\n    ")}
  },
});

export const Loose = defineModel({
  name: "loose",
  schema: z.looseObject({ name: z.string() }),
  primaryKey: "name",
});

export const Pair = defineModel({
  name: "pairs",
  schema: z.object({
    id: z.string().brand<"PairId">(),
    size: z.string().transform((text) => text.length),
    note: z.string(),
  }),
  primaryKey: ["id", "size"],
  indexes: {
    bySizeAndNote: { key: ["size", "note"] },
    byAll: { key: ["note", "size", "id"] },
    "by note or so": { key: "note" },
  },
});
`;

const usage = `import { type ThingCreate, type ThingRow, openRepositories } from "./db/index.js";
import { openKv } from "@keywright/core";
const { things, loose, pairs } = await openRepositories(await openKv());
declare const thing: ThingCreate & { id: string };
declare const row: ThingRow;
const update = {};
const { id, ...withoutId } = thing;
await things.upsert(row.id, { create: withoutId, update });
${Object.keys(allFields)
  .map((name) => {
    const value = `row.${name} as NonNullable<ThingRow["${name}"]>`;
    return `{
  const { ${name}: left, ...create } = thing;
  void left;
  ${Object.hasOwn(otherFields, name) ? "// @ts-expect-error: it has to be said." : ""}
  await things.upsertBy${suffix(name)}(${value}, { create: { ...create, ${name}: undefined }, update });
}`;
  })
  .join("\n")}
void id;
// @ts-expect-error: it has to be said.
await loose.upsert("a", { create: {}, update });
declare const pair: Parameters<typeof pairs.upsert>[0];
await pairs.upsert(pair, 2, { create: { size: "ab", note: "" }, update });
// @ts-expect-error: it has to be said.
await pairs.upsert(pair, 2, { create: { id: "a", note: "" }, update });
`;

// biome-ignore lint/suspicious/noExplicitAny: the module is made by the test; its types are compiled in "usage.ts".
type Opened = any;

let project: Project;
let loaded: LoadedConfig;
let kv: EmbeddedKv;
let db: Opened;

beforeAll(async () => {
  project = await createProject({
    "keywright.config.ts": config,
    ...enums,
    "models/all.ts": models,
    "usage.ts": usage,
    "open-kv.ts": 'export { openKv } from "@keywright/core";\n',
  });
  await generate({ folder: project.folder });
  loaded = await loadConfig(project.folder, undefined);
});
afterAll(() => project.remove());

beforeEach(async () => {
  // The project's own: the test has another copy of the package.
  const { openKv } = await loaded.loadModule(project.path("open-kv.ts"));
  kv = await (openKv as () => Promise<EmbeddedKv>)();
  const { openRepositories } = await loaded.loadModule(project.path("db/index.ts"));
  db = await (openRepositories as (kv: EmbeddedKv) => Promise<Opened>)(kv);
});
afterEach(() => kv.close());

/** The comment right above a declaration, on one line. */
async function commentOf(file: string, declaration: string): Promise<string> {
  const text = await project.read(`db/${file}.ts`);
  const before = text.slice(0, text.indexOf(declaration));
  return before.slice(before.lastIndexOf("/**")).replaceAll(/\s+\*?\s*/g, " ");
}

describe("what an upsert creates", () => {
  it("may leave out, or have undefined for, the fields of the key that are stored as they are given", () => {
    expect(compile([project.path("usage.ts"), project.path("db/index.ts")])).toEqual([]);
  });

  it.each(Object.keys(givenFields))("may leave out %s, as the comment says", async (field) => {
    const comment = await commentOf("things", `  upsertBy${suffix(field)}(`);
    expect(comment).toContain(`\`create\` can leave out \`${field}\`.`);
  });

  it.each(Object.keys(otherFields))("has to say %s", async (field) => {
    const comment = await commentOf("things", `  upsertBy${suffix(field)}(`);
    expect(comment).toContain("Changes the row");
    expect(comment).not.toContain("can leave out");
  });

  it("may leave out some fields of a primary key, all of them, or none", async () => {
    const [all, some, none] = await Promise.all(
      ["things", "pairs", "loose"].map((file) => commentOf(file, "  upsert(")),
    );
    expect(all).toContain("A new row gets this `id`, which `create` can leave out.");
    expect(some).toContain(
      "A new row gets this `id` and `size`, of which `create` can leave out `id`.",
    );
    expect(none).toContain("A new row gets this `name`. One read");
  });

  it("has the values that name it", async () => {
    const made = await db.pairs.upsert("a", 2, { create: { size: "ab", note: "" }, update: {} });
    expect(made).toEqual({ id: "a", size: 2, note: "" });
    const other = db.pairs.upsert("b", 3, { create: { size: "ab", note: "" }, update: {} });
    await expect(other).rejects.toMatchObject({ code: "KW_ARGUMENT_INVALID" });
  });
});

describe("comments", () => {
  it("say of a list by several fields which of them may have bounds", async () => {
    const two = await commentOf("pairs", "  listBySizeAndNote(");
    expect(two).toContain(
      "Finds the rows with this `size` and `note`: for each field a value or several values",
    );
    const three = await commentOf("pairs", "  listByAll(");
    expect(three).toContain("with this `note`, `size` and `id`: for each field");
  });

  it("call the keys of several rows as the parameter is called", async () => {
    const comment = await commentOf("pairs", "  findEachByIdAndSize(");
    expect(comment).toContain(
      "the row for each of the `keys` (`id` and `size`), or null if there is none, in the order of",
    );
  });

  it("say what watches and upserts cost, and once what is refused", async () => {
    expect(await commentOf("things", "  watchById(")).toContain("One read each time.");
    expect(await commentOf("things", "  watchByBranded(")).toContain("Four reads each time.");
    expect(await commentOf("pairs", "  watchByAll(")).toContain("All are read each time.");
    expect(await commentOf("things", "  upsertByBranded(")).toContain("One or two reads and one");
    expect(await commentOf("pairs", "export class")).toContain("`InvalidQueryError` if a value");
  });

  it("keep code on one line", async () => {
    const text = await project.read("db/things.ts");
    const comments = text.match(/^ *\*.*$/gm) ?? [];
    expect(comments.length).toBeGreaterThan(100);
    expect(comments.filter((line) => line.split("`").length % 2 === 0)).toEqual([]);
  });
});
