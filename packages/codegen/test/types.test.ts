import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { generate } from "../src/generate/generate.js";
import { comparisonTypes, compile } from "./compile.js";
import { enums, everyTypeModule } from "./every-type.js";
import { config, createProject, type Project } from "./project.js";

const comparison = `import type { CreateInput, UpdateInput } from "@keywright/orm";
import type * as z from "zod";
import type { EverythingCreate, EverythingRow, EverythingUpdate } from "./db/everything.js";
import type { Everything } from "./models/everything.js";
${comparisonTypes}
type OfAny = "anything" | "anyWithin" | "roleWithin";
export type Row = Nothing<Differences<EverythingRow, z.output<typeof Everything.schema>, OfAny>>;
export type Create = Nothing<Differences<EverythingCreate, CreateInput<typeof Everything>, OfAny>>;
// Operations are written in another form than they are inferred.
export type Update = Nothing<Differences<EverythingUpdate, UpdateInput<typeof Everything>, string>>;
`;

let project: Project;
let generated: string;
let diagnostics: readonly string[];

beforeAll(async () => {
  project = await createProject({
    "keywright.config.ts": config,
    ...enums,
    "models/everything.ts": everyTypeModule,
    "comparison.ts": comparison,
    "changed/comparison.ts": comparison.replace("./models", "../models"),
  });
  await generate({ folder: project.folder });
  generated = await project.read("db/everything.ts");
  const changed = generated
    .replaceAll("../models", "../../models")
    .replace("  email: string;", "  email: string | number;")
    .replace(/(EverythingCreate \{.*?)int32: number;/s, "$1int32?: number;");
  await project.write({ "changed/db/everything.ts": changed });
  diagnostics = compile(
    ["comparison.ts", "db/index.ts", "changed/comparison.ts"].map((name) => project.path(name)),
  );
});
afterAll(() => project.remove());

describe("the types of a row", () => {
  it("are those that Zod infers, for every kind of schema, in code that compiles", () => {
    const changed = project.path("changed/");
    expect(diagnostics.filter((diagnostic) => !diagnostic.startsWith(changed))).toEqual([]);
  });

  it("are compared field by field, so that a single difference is seen", () => {
    const changed = project.path("changed/");
    expect(diagnostics.filter((diagnostic) => diagnostic.startsWith(changed))).toEqual([
      expect.stringMatching(/:21: Type '"email"' does not satisfy/),
      expect.stringMatching(/:22: Type '"int32"' does not satisfy/),
    ]);
  });

  it("are spelled out wherever they are those that the schema tells at run time", () => {
    const [, row = ""] = /export interface EverythingRow \{\n(.*?)\n\}/s.exec(generated) ?? [];
    const referring = row.split("\n").flatMap((line) => {
      const [, field] = /^ {2}(\w+)\??: z\.output</.exec(line) ?? [];
      return field === undefined ? [] : [field];
    });
    const inexpressible =
      "annotated annotatedReadonly branded brandedInput brandedOption brandedWhole catchallOther caughtTransformed classMap custom customUntyped enumNumbers enumObject function literalInfinity " +
      "ownClass promise readonlyDefault readonlyOptional readonlyRestTuple readonlyUnion recordOfTemplates role roleNumbers symbol " +
      "templateLiteral transformed transformedOptional treeOfTrees unionWithReference";
    expect(referring.sort()).toEqual(inexpressible.split(" "));
  });

  it("refer to no more than the part that only the compiler knows", () => {
    const schema = "typeof Everything.schema.shape";
    const [, within = ""] = /brandedWithin: (\{.*?\n {2}\});/s.exec(generated) ?? [];
    expect(within.replaceAll(/\s+/g, " ")).toBe(
      `{ a: { b: z.output<${schema}.brandedWithin.shape.a.shape.b>; c: string }; d: Date; }`,
    );
    expect(generated).toContain(`cast: z.output<${schema}.annotatedWithin.shape.cast>;`);
    expect(generated).toContain(`role: z.output<${schema}.roleWithin.shape.role>;`);
    expect(generated).toContain(`a: z.output<${schema}.brandedElement.element.shape.a>;`);
    expect(generated).toContain(`id: z.output<${schema}.brandedTree.shape.id>;`);
  });

  it("have one name where they are equal, for what is read and what is handed in", () => {
    const named = [...generated.matchAll(/^export type (\w+)/gm)].map(([, name]) => name);
    expect(named).toContain("EverythingJson");
    expect(named.filter((name) => /json/i.test(name ?? ""))).toEqual(["EverythingJson"]);
    expect(generated).toContain("otherJson: EverythingJson;");
    expect(generated).toContain("maybeJson: EverythingJson;");
  });

  it("name no member twice that another one takes in", () => {
    expect(generated).toContain("intersectionOfEqual: string;");
    expect(generated).toContain("unionOfLiteral: true | string | number | bigint;");
  });

  it("never contain any", () => {
    expect(generated).not.toMatch(/\bany\b/);
  });
});
