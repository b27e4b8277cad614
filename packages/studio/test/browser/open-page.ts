import { existsSync } from "node:fs";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { type Studio, type StudioOptions, startStudio } from "../../src/start-studio.js";
import { type Example, models, openExample } from "../example.js";

const places = [
  ...["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"],
  "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
];

/** The path of a browser. Undefined if there is none, and the tests of the page are skipped. */
export const browserPath: string | undefined = places.find((path) => existsSync(path));

if (browserPath === undefined) {
  console.warn("Skipped the tests of the page: they need Chromium (apt-get install chromium).");
}

export function launch(): Promise<Browser> {
  return chromium.launch({ executablePath: browserPath!, args: ["--no-sandbox"] });
}

/** A studio and a page of it. */
export interface OpenPage extends AsyncDisposable {
  readonly studio: Studio;
  readonly context: BrowserContext;
  readonly page: Page;
  /** The errors of the page, and its requests to other hosts. */
  readonly problems: string[];
  /** Shows a view: `rows/users`. */
  show(view: string): Promise<void>;
}

export async function openPage(
  browser: Browser,
  options: StudioOptions,
  look: { readonly width?: number; readonly colorScheme?: "light" | "dark" } = {},
): Promise<OpenPage> {
  const studio = await startStudio(options);
  const { width = 1280, colorScheme = "light" } = look;
  const viewport = { width, height: 800 };
  const context = await browser.newContext({ viewport, colorScheme, reducedMotion: "reduce" });
  // It only ends what hangs. A busy machine takes many times as long.
  context.setDefaultTimeout(120_000);
  await context.grantPermissions(["clipboard-read", "clipboard-write"]);
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => {
    const { url } = message.location();
    // A call that is refused is part of a test.
    if (message.type() === "error" && !url.includes("/api/")) problems.push(message.text());
  });
  page.on("request", (request) => {
    const { hostname } = new URL(request.url());
    if (hostname !== "127.0.0.1" && request.url().startsWith("http")) problems.push(request.url());
  });
  page.on("dialog", (dialog) => problems.push(dialog.message()));
  await page.goto(studio.url);
  await page.getByRole("heading", { level: 1 }).waitFor();
  return {
    studio,
    context,
    page,
    problems,
    show: async (view) => {
      await page.goto(`${new URL(page.url()).origin}/#/${view}`);
      await page.getByRole("heading", { level: 1 }).waitFor();
    },
    [Symbol.asyncDispose]: async () => {
      await context.close();
      await studio.close();
    },
  };
}

/** Opens a page on a database with example rows. */
export async function openExamplePage(
  browser: Browser,
  users: number,
  look?: Parameters<typeof openPage>[2],
): Promise<OpenPage & Example> {
  const example = await openExample(users);
  const opened = await openPage(browser, { kv: example.kv, models, title: "example" }, look);
  const close = async () => {
    await opened[Symbol.asyncDispose]();
    await example.kv.close();
  };
  return { ...example, ...opened, [Symbol.asyncDispose]: close };
}
