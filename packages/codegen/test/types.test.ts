import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { generate } from "../src/generate/generate.js";
import { comparisonTypes, compile } from "./compile.js";
import { everyTypeModule } from "./every-type.js";
import { config, createProject, type Project } from "./project.js";

const comparison = `import type { CreateInput, UpdateInput } from "@keywright/orm";
import type * as z from "zod";
import type { EverythingCreate, EverythingRow, EverythingUpdate } from "./db/everything.js";
import type { Everything } from "./models/everything.js";
${comparisonTypes}
export type Row = Nothing<Differences<EverythingRow, z.output<typeof Everything.schema>>>;
export type Create = Nothing<Differences<EverythingCreate, CreateInput<typeof Everything>>>;
export type Update = Nothing<Differences<EverythingUpdate, UpdateInput<typeof Everything>>>;
`;

let project: Project;
let generated: string;
let diagnostics: readonly string[];

beforeAll(async () => {
  project = await createProject({
    "keywright.config.ts": config,
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
}, 60_000);
afterAll(() => project.remove());

describe("the types of a row", () => {
  it("are those that Zod infers, for every kind of schema, in code that compiles", () => {
    const changed = project.path("changed/");
    expect(diagnostics.filter((diagnostic) => !diagnostic.startsWith(changed))).toEqual([]);
  });

  it("are compared field by field, so that a single difference is seen", () => {
    const changed = project.path("changed/");
    expect(diagnostics.filter((diagnostic) => diagnostic.startsWith(changed))).toEqual([
      expect.stringMatching(/:18: Type '"email"' does not satisfy/),
      expect.stringMatching(/:19: Type '"int32"' does not satisfy/),
    ]);
  });

  it("are spelled out wherever the schema tells them at run time", () => {
    const [, row = ""] = /export interface EverythingRow \{\n(.*?)\n\}/s.exec(generated) ?? [];
    const referring = row.split("\n").flatMap((line) => {
      const [, field] = /^ {2}(\w+)\??: z\.output</.exec(line) ?? [];
      return field === undefined ? [] : [field];
    });
    const inexpressible =
      "catchallOther caughtTransformed classMap custom customUntyped enumNumbers enumObject function literalInfinity " +
      "ownClass promise readonlyDefault readonlyOptional readonlyRestTuple readonlyUnion recordOfTemplates symbol " +
      "templateLiteral transformed transformedOptional treeOfTrees unionWithReference";
    expect(referring.sort()).toEqual(inexpressible.split(" "));
  });

  it("never contain any", () => {
    expect(generated).not.toMatch(/\bany\b/);
  });
});
