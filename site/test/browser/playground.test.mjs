import { gzipSync } from "node:zlib";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { budgets } from "../../playground/budgets.mjs";
import { examples } from "../../playground/examples.mjs";
import { browserPath, expectAccessible, looks, openBuiltSite } from "./built-site.mjs";

const endlessWrites = `
  import { openKv } from "@keywright/core";
  const kv = await openKv();
  for (;;) await kv.set(["same"], "value");
`;

describe.skipIf(browserPath === undefined)("the playground", () => {
  let site;
  beforeAll(async () => {
    site = await openBuiltSite();
  });
  afterAll(() => site?.close());

  /** Opens the playground with an example, or with a program of the test. */
  async function withPlayground({ example = "first-rows", program, ...look }, body) {
    await site.withPage(look, async (page) => {
      await page.goto(`${site.url}/playground?example=${example}`);
      await statusOf(page, "Ready.");
      if (program !== undefined) {
        await page.getByRole("textbox", { name: "Program" }).click();
        await page.keyboard.press("ControlOrMeta+a");
        await page.keyboard.insertText(program);
      }
      await body(page);
    });
  }

  const statusOf = (page, text) => page.getByRole("status").filter({ hasText: text }).waitFor();
  const run = (page) => page.getByRole("button", { name: "Run", exact: true }).click();
  const output = (page) => page.locator(".lines").textContent();
  const failures = (page) => page.getByRole("alert").allTextContents();

  it.each(examples())(
    "$title: prints what the page says",
    async ({ name, program, output: text }) => {
      await withPlayground({ example: name }, async (page) => {
        expect(await page.locator(".cm-content").textContent()).toContain(program.split("\n")[2]);
        await run(page);
        await statusOf(page, /^(Finished|Failed)/);
        const failed = await page.getByRole("alert").evaluateAll((each) =>
          each.map((element) => {
            const code = element.querySelector("a").textContent;
            return `${code}: ${element.querySelector(".message").textContent}\n`;
          }),
        );
        expect((await output(page)) + failed.join("")).toBe(text);
      });
    },
  );

  it("shows the stored entries: rows, index entries, and Keywright's own", async () => {
    await withPlayground({ example: "unique-index" }, async (page) => {
      await run(page);
      await statusOf(page, "Failed");
      const stored = page.getByRole("region", { name: "Stored entries" });
      expect(await stored.locator("caption").allTextContents()).toEqual([
        "rows of users",
        "unique index byEmail of users",
        "Keywright's own entries: the catalog of models and indexes",
      ]);
      expect(await stored.locator("td").allTextContents()).toContain(
        "[ 'users_by_email', 'ada@example.com' ]",
      );
    });
  });

  it("shows an error with its line, its code, what the code means, and a link to it", async () => {
    await withPlayground({ example: "unique-index" }, async (page) => {
      await run(page);
      const alert = page.getByRole("alert");
      await alert.waitFor();
      const { program } = examples().find(({ name }) => name === "unique-index");
      const line = program.trimEnd().split("\n").length;
      expect(await alert.textContent()).toContain(`UniqueConstraintError in line ${line}`);
      expect(await alert.locator(".remedy").textContent()).toMatch(/\w{3}/);
      await alert.getByRole("link", { name: "KW_UNIQUE_CONSTRAINT" }).click();
      await page.waitForURL(/\/errors#kw_unique_constraint$/);
    });
  });

  it("a live query follows its rows, and so do the stored entries", async () => {
    await withPlayground({ example: "live-query" }, async (page) => {
      await run(page);
      await statusOf(page, "The live queries continue.");
      const cell = (text) => page.locator(".view td", { hasText: text });
      await cell("Task 1").waitFor();
      await page.getByRole("button", { name: "Add a task" }).click();
      await cell("Task 2").waitFor();
      await page.locator(".entries td", { hasText: "'Task 2'" }).first().waitFor();
      await page.getByRole("button", { name: "Finish the first task" }).click();
      await cell("Task 1").waitFor({ state: "detached" });
      await page.getByRole("button", { name: "Stop" }).click();
      await statusOf(page, "Stopped.");
      expect(await page.getByRole("button", { name: "Add a task" }).count()).toBe(0);
    });
  });

  it.each([
    ["an endless loop", "for (;;) {}"],
    ["an endless chain of promises", "for (;;) await undefined;"],
    ["an endless loop that writes", endlessWrites],
    ["an endless loop that prints", "for (;;) console.log('again');"],
    ["a promise that never settles", "await new Promise(() => {});"],
  ])("ends %s, and runs the next program", async (_, program) => {
    await withPlayground({ program }, async (page) => {
      await run(page);
      await statusOf(page, "The program was stopped: it had not finished after 5 seconds.");
      await page.getByRole("button", { name: "Reset" }).click();
      await run(page);
      await statusOf(page, "Finished");
      expect(await output(page)).toMatch(/^Ada\n/);
    });
  });

  it("ends a program that blocks its thread after it has finished", async () => {
    await withPlayground({ program: "setTimeout(() => { for (;;) {} });" }, async (page) => {
      await run(page);
      await statusOf(page, "The program was stopped: it kept its thread busy for 3 seconds.");
    });
  });

  it("prints values of all kinds, and at most 500 lines", async () => {
    const program = `
      console.log("text", 1n, -0, null, undefined, [1, "a"], { a: { b: true } });
      console.log(new Map([["a", 1]]), new Date(0), new Uint8Array([1, 2]), new TypeError("no"));
      for (let i = 0; i < 600; i++) console.log(i);
    `;
    await withPlayground({ program }, async (page) => {
      await run(page);
      await statusOf(page, "Finished");
      const lines = (await output(page)).split("\n");
      expect(lines[0]).toBe("text 1n -0 null undefined [ 1, 'a' ] { a: { b: true } }");
      expect(lines[1]).toContain("TypeError: no");
      expect(lines.slice(499, 502)).toEqual(["497", "… The page shows the first 500 lines.", ""]);
    });
  });

  it.each([
    ["a program that cannot be read", "const a = 1;\nconst = 2;", /SyntaxError in line 2/],
    [
      "a module that is not here",
      'import "node:fs";',
      /has no module "node:fs".*@keywright\/core/s,
    ],
    ["a rejection that nobody handles", 'void Promise.reject(new Error("lost"));', /lost/],
    ["an error in a timer", 'setTimeout(() => { throw new Error("late"); });', /late/],
    ["a value that is no error", 'throw "text";', /Thrown: text/],
    [
      "a folder",
      'import { openKv } from "@keywright/core";\nawait openKv("./data");',
      /BrowserUnsupportedError in line 2 · KW_BROWSER_UNSUPPORTED/,
    ],
  ])("shows the error of %s", async (_, program, text) => {
    await withPlayground({ program }, async (page) => {
      await run(page);
      await page.getByRole("alert").waitFor();
      expect((await failures(page)).join("\n")).toMatch(text);
    });
  });

  it("removes types, and closes databases at the end of their block", async () => {
    const program = `
      import { type EmbeddedKv, openKv } from "@keywright/core";
      enum Color { Green = "green" }
      interface User { readonly name: string }
      const user = { name: "Ada" } satisfies User as User;
      async function store(kv: EmbeddedKv): Promise<void> { await kv.set([Color.Green], user); }
      { await using kv = await openKv(); await store(kv); }
      console.log("stored");
    `;
    await withPlayground({ program }, async (page) => {
      await run(page);
      await statusOf(page, "Finished");
      expect(await output(page)).toBe("stored\n");
      // What was stored before the database was closed.
      expect(await page.locator(".entries td").allTextContents()).toEqual([
        "[ 'green' ]",
        "{ name: 'Ada' }",
      ]);
    });
  });

  it("works without a network after it has loaded, also for the second run", async () => {
    await withPlayground({ example: "full-text" }, async (page) => {
      await page.context().setOffline(true);
      for (let time = 0; time < 2; time++) {
        await run(page);
        await statusOf(page, "Finished");
        expect(await output(page)).toContain("jumping -cat:\n- Brown foxes");
      }
    });
  });

  it("can be used with the keyboard alone", async () => {
    await withPlayground({}, async (page) => {
      const focused = () => page.evaluate(() => document.activeElement.textContent.trim());
      await page.getByLabel("Example", { exact: true }).focus();
      await page.keyboard.press("Tab");
      expect(await focused()).toBe("Run");
      await page.keyboard.press("Tab");
      expect(await page.evaluate(() => document.activeElement.ariaLabel)).toBe("Program");
      await page.keyboard.press("ControlOrMeta+a");
      await page.keyboard.insertText('console.log("typed");');
      await page.keyboard.press("Home");
      await page.keyboard.press("Tab");
      await page.keyboard.press("ControlOrMeta+Enter");
      await statusOf(page, "Finished");
      expect(await output(page)).toBe("typed\n");
      expect(await page.locator(".cm-line").first().textContent()).toMatch(/^ +console/);
      await page.keyboard.press("Escape");
      await page.keyboard.press("Tab");
      expect(await page.evaluate(() => document.activeElement.ariaLabel)).toBe("Output");
      await page.keyboard.press("Tab");
      expect(await page.evaluate(() => document.activeElement.ariaLabel)).toBe("Stored entries");
    });
  });

  it("keeps what was typed while another example is shown", async () => {
    await withPlayground({ program: 'console.log("mine");' }, async (page) => {
      await page.getByLabel("Example", { exact: true }).selectOption("A transaction");
      await page.getByLabel("Example", { exact: true }).selectOption("First rows");
      await run(page);
      await statusOf(page, "Finished");
      expect(await output(page)).toBe("mine\n");
    });
  });

  it.each(looks)(
    "in $colorScheme, $width pixels wide: axe finds nothing after a run",
    async (look) => {
      for (const example of ["unique-index", "live-query"]) {
        await withPlayground({ example, ...look }, async (page) => {
          await run(page);
          await statusOf(page, /Failed|continue/);
          await expectAccessible(page, example);
        });
      }
    },
  );

  it("loads the editor and the database within their budgets, and only on its page", async () => {
    const loaded = async (path, isLoaded) => {
      const bodies = new Map();
      await site.withPage({}, async (page) => {
        page.on("response", async (response) => {
          const { pathname } = new URL(response.url());
          if (pathname.endsWith(".js")) bodies.set(pathname, response.body());
        });
        await page.goto(site.url + path, { waitUntil: "networkidle" });
        await isLoaded(page);
        for (const [name, body] of bodies) bodies.set(name, gzipSync(await body).length / 1000);
      });
      return bodies;
    };
    const there = await loaded("/playground", (page) => statusOf(page, "Ready."));
    const home = await loaded("/", async () => undefined);
    const sizeOf = (name) => {
      const files = [...there].filter(([path]) => path.includes(`/${name}`));
      expect(files.length, name).toBe(1);
      expect(home.has(files[0][0]), `the home page loads ${name}`).toBe(false);
      return files[0][1];
    };
    for (const [name, file] of [
      ["editor", "chunks/editor."],
      ["worker", "main-"],
    ]) {
      const size = sizeOf(file);
      console.info(`${name}: ${size.toFixed(1)} kB`);
      expect(size, name).toBeLessThan(budgets[name]);
      // A budget that is far larger than what it limits says nothing.
      expect(size, name).toBeGreaterThan(budgets[name] * 0.8);
    }
  });
});
