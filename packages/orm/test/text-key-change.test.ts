import { openKv } from "@keywright/core";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { createDatabase, defineModel, migrate } from "../src/index.js";

describe("a change of the primary key of a model with a full-text index", () => {
  it("is refused, and the database stays as it is", async () => {
    const schema = z.object({ id: z.string(), slug: z.string(), text: z.string() });
    const indexes = { search: { text: "text" } } as const;
    const ById = defineModel({ name: "notes", schema, primaryKey: "id", indexes });
    const BySlug = defineModel({ name: "notes", schema, primaryKey: "slug", indexes });
    await using kv = await openKv();
    const db = await createDatabase({ kv, models: { notes: ById } });
    await db.notes.create({ data: { id: "1", slug: "one", text: "fox" } });
    const changed = await createDatabase({ kv, models: { notes: BySlug } });
    const { status, plan } = await migrate(changed, { accept: true });
    expect(status).toBe("blocked");
    expect(plan.steps[0]?.blocked).toMatch(/search is a full-text index/u);
    const { items } = await db.notes.search({ query: "fox" });
    expect(items.map(({ row }) => row.id)).toEqual(["1"]);
  });
});
