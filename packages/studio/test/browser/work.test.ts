import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openWork } from "../example-work.js";
import { browserPath, launch, openPage } from "./open-page.js";
import { violations } from "./violations.js";

describe.skipIf(browserPath === undefined)("jobs and crons on the page", () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launch();
  });
  afterAll(() => browser?.close());

  it.each([
    { width: 1280, colorScheme: "light" },
    { width: 1280, colorScheme: "dark" },
    { width: 390, colorScheme: "light" },
  ] as const)("are shown and changed: %j", async (look) => {
    const { kv, db } = await openWork();
    await using open = await openPage(browser, { kv, title: "example" }, look);
    const { page } = open;
    await open.show("work");
    const jobs = page.getByRole("table", { name: "Jobs by name" });
    await jobs.getByRole("row", { name: "send-mail 1 0 0 3" }).waitFor();
    await db.jobs.sendMail.enqueue({ to: "e" });
    await jobs.getByRole("row", { name: "send-mail 2 0 0 3" }).waitFor();
    const crons = page.getByRole("table", { name: "Crons" });
    await crons.getByText("report").waitFor();
    await jobs.getByRole("link", { name: "3 failed jobs of send-mail" }).click();
    const failed = page.getByRole("table", { name: "Failed jobs" });
    await failed.getByText("Error: No mailbox <b>b</b>").waitFor();
    expect(await violations(page)).toEqual([]);
    const isWider = await page.evaluate(
      () => document.documentElement.scrollWidth > document.documentElement.clientWidth,
    );
    expect(isWider).toBe(false);
    if (process.env["KEYWRIGHT_SCREENSHOTS"] !== undefined)
      await page.screenshot({
        path: `${process.env["KEYWRIGHT_SCREENSHOTS"]}/work-${look.width}-${look.colorScheme}.png`,
      });
    await failed.getByRole("button", { name: "Retry" }).first().click();
    await page.getByText("1 job waiting again").waitFor();
    await jobs.getByRole("row", { name: "send-mail 3 0 0 2" }).waitFor();
    await page.getByRole("button", { name: "Discard all" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Discard" }).click();
    await page.getByText("2 jobs removed").waitFor();
    expect(await db.jobs.sendMail.counts()).toMatchObject({ waiting: 3, failed: 0 });
    expect(open.problems).toEqual([]);
    await kv.close();
  });
});
