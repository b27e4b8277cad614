// Editing and finding rows without typing keys.
import { openKv } from "@keywright/core";
import { belongsTo, createDatabase, defineModel } from "@keywright/orm";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { browserPath, launch, openPage } from "./open-page.js";
import { violations } from "./violations.js";

const models = {
  tenants: defineModel({
    name: "tenants",
    schema: z.object({ id: z.ulid(), name: z.string() }),
    primaryKey: "id",
  }),
  authors: defineModel({
    name: "authors",
    schema: z.object({ tenantId: z.ulid(), id: z.string(), name: z.string() }),
    primaryKey: ["tenantId", "id"],
    relations: { tenant: belongsTo("tenants", "tenantId") },
  }),
  books: defineModel({
    name: "books",
    schema: z.object({
      id: z.ulid(),
      tenantId: z.ulid(),
      authorId: z.string(),
      title: z.string().min(1),
      year: z.int().nullable().default(null),
      tags: z.array(z.string()).default([]),
      isSold: z.boolean().default(false),
    }),
    primaryKey: "id",
    indexes: {
      byTenant: { key: ["tenantId", "title"] },
      byAuthor: { key: ["tenantId", "authorId"] },
      byYear: { key: "year" },
    },
    relations: {
      author: belongsTo("authors", ["tenantId", "authorId"]),
      tenant: belongsTo("tenants", "tenantId"),
    },
  }),
};

async function openLibrary(browser: Browser) {
  const kv = await openKv();
  const db = await createDatabase({ kv, models });
  const acme = await db.tenants.create({ data: { name: "Acme" } });
  const best = await db.tenants.create({ data: { name: "Best" } });
  for (const { id: tenantId } of [acme, best])
    for (const id of ["ada", "bob"])
      await db.authors.create({ data: { tenantId, id, name: `${id} of ${tenantId.slice(-4)}` } });
  for (const [i, title] of ["Looms", "Engines", "Numbers"].entries())
    await db.books.create({ data: { tenantId: acme.id, authorId: "ada", title, year: 1840 + i } });
  const open = await openPage(browser, { kv, models });
  const close = async () => {
    await open[Symbol.asyncDispose]();
    await kv.close();
  };
  return { ...open, db, acme, best, [Symbol.asyncDispose]: close };
}

const isThere = browserPath !== undefined;
describe.skipIf(!isThere)("rows of several tenants", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());

  it("creates a row without its generated key", async () => {
    await using open = await openLibrary(browser);
    const { page, db } = open;
    await open.show("rows/tenants");
    await page.getByRole("button", { name: "New row" }).click();
    await page.getByLabel("name", { exact: true }).fill("Third");
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    const { items } = await db.tenants.scan();
    expect(items.map(({ name }) => name)).toEqual(["Acme", "Best", "Third"]);
  });

  it("chooses the rows of references by name, within the tenant that was chosen", async () => {
    await using open = await openLibrary(browser);
    const { page, db, best } = open;
    await open.show("rows/books");
    await page.getByRole("button", { name: "New row" }).click();
    await choose(page, "tenantId", "Best");
    await page.getByRole("button", { name: "Choose authorId by name" }).click();
    const picker = page.getByRole("dialog", { name: "Choose a row of authors" });
    await picker.getByRole("button", { name: /^bob/ }).waitFor();
    expect(await picker.getByRole("button", { name: /of/ }).count()).toBe(2);
    await picker.getByLabel("Search").fill("BOB");
    await expect.poll(() => picker.getByRole("button", { name: /of/ }).count()).toBe(1);
    expect(await violations(page)).toEqual([]);
    await picker.getByRole("button", { name: /^bob/ }).click();
    await page.getByLabel("title", { exact: true }).fill("Wheels");
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    const { items } = await db.books.findMany({ where: { tenantId: best.id } });
    expect(items).toMatchObject([{ authorId: "bob", title: "Wheels" }]);
    expect(open.problems).toEqual([]);
  });

  it("links each field of a reference to its own row", async () => {
    await using open = await openLibrary(browser);
    const { page, acme } = open;
    await open.show("rows/books");
    const row = page.getByRole("row", { name: /Looms/ });
    await row.waitFor();
    const hrefs = await row
      .getByRole("link")
      .evaluateAll((links) =>
        links.map((link) => decodeURIComponent(link.getAttribute("href") ?? "")),
      );
    expect(hrefs[0]).toMatch(/^#\/row\/tenants\?/);
    expect(hrefs[0]).toContain(acme.id);
    expect(hrefs[1]).toMatch(/^#\/row\/authors\?.*ada/);
  });

  it("filters by a tenant that is chosen by name", async () => {
    await using open = await openLibrary(browser);
    const { page } = open;
    await open.show("rows/books?index=byTenant");
    await choose(page, "tenantId", "Best");
    await page.getByRole("button", { name: "Show" }).click();
    await page.getByText("No rows").waitFor();
    await choose(page, "tenantId", "Acme");
    await page.getByRole("button", { name: "Show" }).click();
    await expect.poll(() => titlesOf(page)).toEqual(["Engines", "Looms", "Numbers"]);
    // The index has the title after the tenant.
    await page.getByRole("button", { name: "Sort and filter by title" }).click();
    await page.getByRole("button", { name: "Sort descending" }).click();
    await expect.poll(() => titlesOf(page)).toEqual(["Numbers", "Looms", "Engines"]);
  });

  it("sorts and filters by a column, or names the index that would", async () => {
    await using open = await openLibrary(browser);
    const { page } = open;
    await open.show("rows/books");
    await page.getByRole("button", { name: "Sort and filter by year" }).click();
    await page.getByText("Served by byYear").waitFor();
    expect(await violations(page)).toEqual([]);
    await page.getByRole("button", { name: "Sort descending" }).click();
    await expect.poll(() => titlesOf(page)).toEqual(["Numbers", "Engines", "Looms"]);
    await page.getByRole("button", { name: "Sort and filter by year" }).click();
    await page.getByRole("dialog").getByLabel("Value of year").fill("1841");
    await page.getByRole("button", { name: "Filter", exact: true }).click();
    await expect.poll(() => titlesOf(page)).toEqual(["Engines"]);
    await page.getByRole("button", { name: "Sort and filter by isSold" }).click();
    await page.getByText('byIsSold: { key: "isSold" }').waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Sort and filter by tags" }).click();
    await page.getByText('byTags: { key: "tags", each: true }').waitFor();
  });

  it("edits a value in the table, with the mouse or the keyboard", async () => {
    await using open = await openLibrary(browser);
    const { page, db } = open;
    await open.show("rows/books?index=byYear");
    const row = page.getByRole("row", { name: /Looms/ });
    await row.hover();
    await row.getByTitle("Edit year").click();
    const editor = page.getByRole("dialog", { name: "Edit year" });
    await editor.getByLabel("year", { exact: true }).fill("no year");
    await page.keyboard.press("Enter");
    await editor.getByText("This is not a number.").waitFor();
    expect(await violations(page)).toEqual([]);
    await editor.getByLabel("year", { exact: true }).fill("1900");
    await page.keyboard.press("Enter");
    await editor.waitFor({ state: "hidden" });
    expect((await db.books.findMany({ where: { year: 1900 } })).items).toHaveLength(1);
    expect(await page.getByRole("complementary", { name: "Row" }).count()).toBe(0);

    // The list has the focus. The second row is active.
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("F2");
    const first = page.getByRole("dialog", { name: /^Edit / });
    await first.waitFor();
    await page.keyboard.press("Escape");
    await first.waitFor({ state: "hidden" });
    expect(open.problems).toEqual([]);
  });

  it("changes and deletes several rows, and says which were refused", async () => {
    await using open = await openLibrary(browser);
    const { page, db } = open;
    await open.show("rows/books?index=byYear");
    await page.getByRole("row", { name: /Looms/ }).waitFor();
    for (const title of ["Looms", "Engines"]) await select(page, title);
    const bar = page.getByRole("toolbar", { name: "Selected rows" });
    await bar.getByText("2 rows selected").waitFor();
    await bar.getByRole("button", { name: /^Change/ }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Field").selectOption("title");
    await dialog.getByLabel("title", { exact: true }).fill("Renamed");
    await dialog.getByRole("button", { name: "Change" }).click();
    await dialog.getByText("2 rows changed.").waitFor();
    expect(await violations(page)).toEqual([]);
    await dialog.locator(".dialog-actions").getByRole("button", { name: "Close" }).click();
    const { items } = await db.books.findMany({ index: "byYear", orderBy: { year: "asc" } });
    expect(items.map(({ title }) => title)).toEqual(["Renamed", "Renamed", "Numbers"]);

    await page.getByLabel("Select all loaded rows").check();
    await bar.getByRole("button", { name: /^Delete/ }).click();
    // Another program changes one of them before the answer.
    await db.books.update({ where: { id: items[2]!.id }, data: { title: "Saved" } });
    await dialog.getByRole("button", { name: "Delete", exact: true }).click();
    await dialog.getByText(/2 rows deleted, 1 row not\./).waitFor();
    await dialog.getByRole("link", { name: /^Numbers|^Saved/ }).waitFor();
    expect((await db.books.scan()).items.map(({ title }) => title)).toEqual(["Saved"]);
    expect(open.problems).toEqual([]);
  });
});

async function choose(page: Page, field: string, name: string): Promise<void> {
  await page.getByRole("button", { name: `Choose ${field} by name` }).click();
  const picker = page.getByRole("dialog", { name: /^Choose a row/ });
  await picker.getByRole("button", { name: new RegExp(`^${name}`) }).click();
  await picker.waitFor({ state: "hidden" });
}

async function select(page: Page, title: string): Promise<void> {
  const row = page.getByRole("row", { name: new RegExp(title) });
  await row.getByLabel("Select this row").check();
}

async function titlesOf(page: Page): Promise<string[]> {
  const rows = await page.getByRole("row", { name: /Looms|Engines|Numbers/ }).allTextContents();
  return rows.map((text) => /Looms|Engines|Numbers/.exec(text)?.[0] ?? "");
}
