import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { compile } from "./compile.js";
import { config, createProject, type Project } from "./project.js";

const models = `import { defineModel } from "@keywright/orm";
import * as z from "zod";

export const User = defineModel({
  name: "users",
  schema: z.object({
    id: z.ulid(),
    tenant: z.string().brand<"Tenant">(),
    email: z.string(),
    born: z.date(),
    score: z.number().nullable(),
    tags: z.array(z.string()),
  }),
  primaryKey: "id",
  indexes: {
    byTenantAndEmail: { key: ["email", (user) => user.email.toLowerCase()], unique: true },
    byYear: { key: (user) => user.born.getFullYear() },
    "by grade": { key: (user) => (user.score === null ? undefined : user.score > 3 ? "good" : "bad") },
    byLength: { key: ["email", (user) => user.tags.map((tag) => tag.length)], each: true },
    byTenant: { key: (user) => user.tenant },
    byAnything: { key: (user) => user.email as any },
  },
});
`;

const usage = `import { openKv } from "@keywright/core";
import { openRepositories } from "./db/index.js";
const { users, database } = await openRepositories(await openKv());
const row = await users.findById("");
const tenant = row!.tenant;

await users.findByTenantAndEmail("t", "a");
await users.listByYear({ gte: 2000 });
await users.listByGrade("good");
await users.listByLength({ email: "t", byLength: { gt: 3 } });
await users.listByTenant(tenant);
await users.listByAnything(5);

// @ts-expect-error: the function returns a text.
await users.findByTenantAndEmail("t", 5);
// @ts-expect-error: the inferred types say so too.
await database.users.findUnique({ where: { email: "t", byTenantAndEmail: 5 } });
// @ts-expect-error: a number.
await users.listByYear("2000");
// @ts-expect-error: one of two texts.
await users.listByGrade("fair");
// @ts-expect-error: nothing stands for what is in no index.
await users.listByGrade(undefined);
// @ts-expect-error: an element is a number.
await users.listByLength({ email: "t", byLength: ["a"] });
// @ts-expect-error: it has a brand.
await users.listByTenant("t");
`;

let project: Project;

beforeAll(async () => {
  project = await createProject({
    "keywright.config.ts": config,
    "models/user.ts": models,
    "usage.ts": usage,
  });
});
afterAll(() => project.remove());

describe("what is looked up by a computed part of an index", () => {
  it("has the type that the function returns, as with inferred types", async () => {
    expect(await project.run(["generate"])).toMatchObject({ exitCode: 0, stderr: "" });
    expect(compile([project.path("usage.ts"), project.path("db/index.ts")])).toEqual([]);
  });

  it("is written as it is where that is short, and elsewhere refers to the function", async () => {
    const generated = await project.read("db/users.ts");
    expect(generated).toContain("listByYear(byYear: Condition<number>, ");
    expect(generated).toContain('Condition<"good" | "bad">');
    expect(generated).toContain(
      "Condition<NonNullable<ReturnType<typeof User.indexes.byTenant.key>>>",
    );
    expect(generated).toContain("listByAnything(byAnything: Condition<KeyValue>, ");
  });
});
