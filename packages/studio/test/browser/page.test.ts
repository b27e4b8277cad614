import { openKv } from "@keywright/core";
import { createDatabase, defineModel } from "@keywright/orm";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import * as z from "zod";
import { models, openExample, userOf } from "../example.js";
import { browserPath, launch, openExamplePage, openPage } from "./open-page.js";
import { violations } from "./violations.js";

const views = ["models", "rows/users", "rows/users?index=byPlan", "keys", "migrations", "health"];

describe.skipIf(browserPath === undefined)("the page", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());

  const openOnExample = (look?: Parameters<typeof openPage>[2]) =>
    openExamplePage(browser, 20, look);

  describe.each([1280, 400])("%i pixels wide", (width) => {
    it.each(["light", "dark"] as const)("is accessible in %s", async (colorScheme) => {
      await using open = await openOnExample({ width, colorScheme });
      for (const view of views) {
        await open.show(view);
        await settled(open.page);
        expect([view, await violations(open.page)]).toEqual([view, []]);
        const isWider = await open.page.evaluate(
          () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
        );
        expect([view, isWider]).toEqual([view, false]);
      }
      await open.show("rows/users");
      await open.page.getByRole("row", { name: /Lovelace 1 / }).click();
      await open.page.getByRole("complementary", { name: "Row" }).waitFor();
      expect(await violations(open.page)).toEqual([]);
      await open.page.getByRole("button", { name: "Edit" }).click();
      await open.page.getByRole("dialog").waitFor();
      expect(await violations(open.page)).toEqual([]);
      expect(open.problems).toEqual([]);
    });
  });

  it("shows markup and control characters as text", async () => {
    await using open = await openOnExample();
    await open.show("rows/posts");
    const row = open.page.getByRole("row", { name: /post-000/ });
    expect(await row.textContent()).toContain("<img src=x onerror=");
    expect(await row.textContent()).toContain("Notes\\u0007");
    await open.show("rows/users");
    const zed = open.page.getByRole("row", { name: /user-0000003/ });
    expect(await zed.textContent()).toContain("Zed\\u202egnp.exe");
    expect(await open.page.locator("main img").count()).toBe(0);
    expect(await open.page.title()).toContain("example");
    expect(open.problems).toEqual([]);
  });

  it("offers the conditions that an index serves, and lists its rows", async () => {
    await using open = await openOnExample();
    await open.show("rows/users");
    await open.page.getByLabel("Index").selectOption("byPlan");
    // The index does not serve a condition on it alone.
    expect(await open.page.getByLabel("Value of createdAt").isDisabled()).toBe(true);
    await open.page.getByLabel("Value of plan").selectOption("team");
    expect(await open.page.getByLabel("Value of createdAt").isDisabled()).toBe(false);
    await open.page.getByRole("button", { name: "Show" }).click();
    await expect.poll(() => idsOf(open.page)).toEqual([19, 16, 13, 10, 7, 4, 1].map(idOf));
    await open.page.getByLabel(/^Order by/).selectOption("asc");
    await expect.poll(async () => (await idsOf(open.page))[0]).toBe(idOf(1));
    await open.page.getByRole("button", { name: "Explain" }).click();
    const text = await open.page.getByRole("region", { name: "Explanation" }).textContent();
    expect(text).toContain("byPlan");
  });

  it("marks a row that another program changes, and strikes one that it deletes", async () => {
    await using open = await openOnExample();
    await open.show("rows/users");
    const row = open.page.getByRole("row", { name: /user-0000004/ });
    await row.waitFor();
    await open.db.users.update({ where: { id: idOf(4) }, data: { name: "Grace Hopper" } });
    await open.page.getByRole("row", { name: /Grace Hopper/ }).waitFor();
    expect(await row.getAttribute("class")).toMatch(/changed/);
    await open.db.users.delete({ where: { id: idOf(19) } });
    const gone = open.page.getByRole("row", { name: /user-0000019/ });
    await expect.poll(() => gone.getAttribute("class")).toMatch(/gone/);
  });

  it("does not overwrite a row that has changed since", async () => {
    await using open = await openOnExample();
    const { page, db } = open;
    await open.show("rows/users");
    await page.getByRole("row", { name: /user-0000004/ }).click();
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("name", { exact: true }).fill("Ada of the studio");
    await db.users.update({ where: { id: idOf(4) }, data: { age: 77 } });
    await page.getByRole("button", { name: "Save" }).click();
    const conflict = page.getByRole("alert", { name: "Conflict" });
    await conflict.getByText("77").waitFor();
    expect((await db.users.findUnique({ where: { id: idOf(4) } }))?.name).toBe("Ada Lovelace 4");
    await conflict.getByRole("button", { name: /keep my edits/ }).click();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    const row = await db.users.findUnique({ where: { id: idOf(4) } });
    expect(row).toMatchObject({ name: "Ada of the studio", age: 77 });
  });

  it("keeps the line ends of a text that is edited", async () => {
    await using open = await openOnExample();
    const { page, db } = open;
    await db.users.update({ where: { id: idOf(4) }, data: { name: "Ada\r\nLovelace" } });
    await open.show("rows/users");
    await page.getByRole("row", { name: /user-0000004/ }).click();
    await page.getByRole("button", { name: "Edit" }).click();
    await page.getByLabel("name", { exact: true }).fill("Ada\nKing\nLovelace");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    const row = await db.users.findUnique({ where: { id: idOf(4) } });
    expect(row?.name).toBe("Ada\r\nKing\r\nLovelace");
  });

  it("shows what is not valid at its field, and the row that has a unique value", async () => {
    await using open = await openOnExample();
    const { page } = open;
    await open.show("rows/users");
    await page.getByRole("row", { name: /user-0000004/ }).click();
    await page.getByRole("button", { name: "Edit" }).click();
    const email = page.getByLabel("email", { exact: true });
    await email.fill("no address");
    await page.getByRole("button", { name: "Save" }).click();
    await expect.poll(() => email.getAttribute("aria-invalid")).toBe("true");
    await email.fill(userOf(5).email);
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("dialog").getByRole("alert").getByRole("link").click();
    await page
      .getByRole("heading", { name: idOf(5) })
      .first()
      .waitFor();
  });

  it("creates a row, and shows what a deletion deletes", async () => {
    await using open = await openOnExample();
    const { page, db } = open;
    await open.show("rows/tags");
    await page.getByRole("button", { name: "New row" }).click();
    await page.getByLabel("id", { exact: true }).fill("looms");
    await page.getByRole("button", { name: "Create" }).click();
    await page.getByRole("dialog").waitFor({ state: "hidden" });
    expect(await db.tags.findUnique({ where: { id: "looms" } })).toEqual({ id: "looms" });
    await open.show("rows/users");
    await page.getByRole("row", { name: /user-0000000/ }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText("posts", { exact: false }).first().waitFor();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await dialog.waitFor({ state: "hidden" });
    expect(await db.users.findUnique({ where: { id: idOf(0) } })).toBeNull();
    expect(await db.posts.count({ where: { authorId: idOf(0) } })).toBe(0);
  });

  it("works with the keyboard alone", async () => {
    await using open = await openOnExample();
    const { page } = open;
    const focused = () => page.evaluate(() => document.activeElement?.textContent ?? "");
    const tabTo = async (text: string) => {
      for (let i = 0; i < 60 && (await focused()).trim() !== text; i++) {
        await page.keyboard.press("Tab");
      }
      expect((await focused()).trim()).toBe(text);
    };
    await tabTo("users");
    await page.keyboard.press("Enter");
    const grid = page.getByRole("grid", { name: "Rows of users" });
    await grid.waitFor();
    await page.getByRole("row", { name: /user-0000000/ }).waitFor();
    for (let i = 0; i < 60; i++) {
      await page.keyboard.press("Tab");
      if (await grid.evaluate((element) => element === document.activeElement)) break;
    }
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    const panel = page.getByRole("complementary", { name: "Row" });
    await panel.getByText(idOf(2)).first().waitFor();
    await page.keyboard.press("Escape");
    await panel.waitFor({ state: "hidden" });
    expect(await grid.evaluate((element) => element === document.activeElement)).toBe(true);
  });

  it("shows the keys of a prefix and their values", async () => {
    await using open = await openOnExample();
    await open.show("keys");
    await open.page.getByRole("textbox").fill('["deep", 1, true, 2n]');
    await open.page.getByRole("button", { name: "Show" }).click();
    await open.page.getByRole("treeitem").first().click();
    const entry = open.page.getByRole("complementary", { name: "Entry" });
    await entry.getByText("Map").first().waitFor();
    await open.page.getByRole("textbox").fill('["cache", "front"]');
    await open.page.getByRole("button", { name: "Show" }).click();
    await entry.getByText("string").first().waitFor();
  });

  it("shows a migration until it ends, and the rows that prevent it", async () => {
    await using kv = await openKv();
    const schema = z.object({ id: z.string(), code: z.string() });
    const before = { items: defineModel({ name: "items", schema, primaryKey: "id" }) };
    const db = await createDatabase({ kv, models: before });
    const codes = Array.from({ length: 20_000 }, (_, i) => String(i));
    await db.items.createMany({ data: codes.map((code) => ({ id: `item-${code}`, code })) });
    await db.items.create({ data: { id: "double", code: "7" } });
    const indexes = { byCode: { key: "code", unique: true } } as const;
    const after = { items: defineModel({ name: "items", schema, primaryKey: "id", indexes }) };
    await using open = await openPage(browser, { kv, models: after });
    await open.show("migrations");
    await open.page.getByText("build-index").first().waitFor();
    await open.page.getByRole("button", { name: /^(Run|Resume)/ }).click();
    await open.page.getByRole("progressbar").waitFor();
    await open.page.getByTestId("outcome").getByText("duplicates").waitFor();
    const migrated = await createDatabase({ kv, models: after });
    await migrated.items.delete({ where: { id: "double" } });
    await open.page.getByRole("button", { name: /^(Run|Resume)/ }).click();
    await open.page.getByTestId("outcome").getByText("done").waitFor();
    await open.show("rows/items");
    await open.page.getByLabel("Index").selectOption("byCode");
  });

  it("verifies and repairs", async () => {
    await using open = await openOnExample();
    await open.kv.delete(["users_by_email", userOf(1).email]);
    await open.show("health");
    await open.page.getByRole("button", { name: "Verify" }).click();
    await open.page.getByTestId("outcome").getByText("damaged").waitFor();
    await open.page.getByRole("button", { name: /^Repair/ }).click();
    await open.page.getByRole("dialog").getByRole("button", { name: "Repair" }).click();
    await open.page.getByTestId("outcome").getByText("repaired").waitFor();
    const { items } = await open.db.users.findMany({ where: { email: userOf(1).email } });
    expect(items).toHaveLength(1);
  });

  it("has no buttons that change something if it is read-only", async () => {
    const { kv } = await openExample();
    await using open = await openPage(browser, { kv, models, readOnly: true });
    await open.show("rows/users");
    await open.page.getByRole("row", { name: /user-0000000/ }).click();
    await open.page.getByRole("complementary", { name: "Row" }).waitFor();
    for (const name of ["New row", "Edit", "Delete"]) {
      expect(await open.page.getByRole("button", { name, exact: true }).count()).toBe(0);
    }
    await kv.close();
  });
});

function idOf(user: number): string {
  return userOf(user).id;
}

/** Returns the ids of the rows that are shown. */
async function idsOf(page: Page): Promise<string[]> {
  const rows = await page.getByRole("row", { name: /user-\d{7}/ }).allTextContents();
  return rows.map((text) => /user-\d{7}/.exec(text)?.[0] ?? "");
}

async function settled(page: Page): Promise<void> {
  await page.waitForLoadState("networkidle").catch(() => undefined);
}
