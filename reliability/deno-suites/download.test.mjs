import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, expect, it } from "vitest";
import { downloadSuites } from "./download.mjs";
import { suites } from "./suites.mjs";

const texts = { "tests/kv_test.ts": "Deno.test();\n", "src/a/b.ts": "export {};\n" };
const sum = (text) => createHash("sha256").update(text).digest("hex");
const files = Object.fromEntries(Object.entries(texts).map(([file, text]) => [file, sum(text)]));
const small = { first: { repository: "owner/name", version: "v1.0.0", files } };

let folder;
const ends = [];

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "keywright-download-"));
  ends.push(() => rm(folder, { recursive: true }));
});

afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

/** Starts a server on loopback, and returns its URL. It has the small suite, unless `answer` ends. */
async function startServer(answer = () => undefined) {
  const asked = [];
  const server = createServer((request, response) => {
    asked.push(request.url);
    if (answer(request, response) !== undefined) return;
    const [, , , version, ...path] = request.url.split("/");
    const text = version === "v1.0.0" ? texts[path.join("/")] : undefined;
    if (text === undefined) response.writeHead(404).end("404: Not Found");
    else response.end(text);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  ends.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { host: `http://127.0.0.1:${server.address().port}`, asked };
}

const isSecond = ({ url }) => url.endsWith("b.ts");

async function failureOf(serving, options = {}) {
  const { host } = serving;
  const error = await downloadSuites(small, folder, { host, ...options }).catch((one) => one);
  expect(error).toMatchObject({ name: "DownloadError" });
  // Not even the first file, which was right.
  expect(await readdir(folder)).toEqual([]);
  return error.message.replace(host, "");
}

it("writes the files of all suites", async () => {
  const { host, asked } = await startServer();
  await downloadSuites(small, folder, { host });
  expect(asked).toEqual(Object.keys(texts).map((file) => `/owner/name/v1.0.0/${file}`));
  for (const [file, text] of Object.entries(texts))
    expect(await readFile(join(folder, "first", file), "utf8")).toBe(text);
});

it("refuses the file of another version, and one that was changed on the way", async () => {
  const serving = await startServer((request, response) =>
    isSecond(request) ? response.end("export const changed = 1;\n") : undefined,
  );
  expect(await failureOf(serving)).toMatch(
    /^\/owner\/name\/v1\.0\.0\/src\/a\/b\.ts: its SHA-256 is [0-9a-f]{64}, and that of v1\.0\.0 is [0-9a-f]{64}\. It is the file of another version, or was changed/,
  );
});

it("says that a version or a file does not exist", async () => {
  const serving = await startServer((request, response) =>
    isSecond(request) ? response.writeHead(404).end() : undefined,
  );
  expect(await failureOf(serving)).toBe(
    "/owner/name/v1.0.0/src/a/b.ts: the server answered 404 Not Found. Correct the version or the file in reliability/deno-suites/suites.mjs.",
  );
});

it("says that the server has an error of its own", async () => {
  const serving = await startServer((_, response) => response.writeHead(503).end());
  expect(await failureOf(serving)).toContain(
    "answered 503 Service Unavailable. Run it again later",
  );
});

it("says how much of an interrupted download has arrived", async () => {
  const serving = await startServer((request, response) => {
    if (!isSecond(request)) return undefined;
    response.writeHead(200, { "content-length": "1000" });
    response.write("export", () => response.destroy());
    return true;
  });
  expect(await failureOf(serving)).toMatch(/the download ended after \d+ of 1000 bytes \(/);
});

it("ends if a server stops sending", async () => {
  const serving = await startServer((request, response) => {
    if (!isSecond(request)) return undefined;
    response.writeHead(200, { "content-length": "1000" }).write("export");
    return true;
  });
  const message = await failureOf(serving, { timeout: 200 });
  expect(message).toMatch(/after 0\.2 seconds, \d+ of .* bytes had arrived/);
});

it("says that a host cannot be reached", async () => {
  const { host } = await startServer();
  for (const end of ends.splice(1)) await end();
  expect(await failureOf({ host })).toContain("the download failed (ECONNREFUSED)");
});

it("is what the command does, which leaves nothing behind", async () => {
  const { host, asked } = await startServer();
  const run = fileURLToPath(new URL("run.mjs", import.meta.url));
  const child = spawn(process.execPath, [run, "--host", host], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ["ignore", "ignore", "pipe"],
  });
  let stderr = "";
  child.stderr.on("data", (text) => {
    stderr += text;
  });
  const [code] = await once(child, "close");
  const { repository, version } = suites.deno;
  expect(asked).toEqual([`/${repository}/${version}/${Object.keys(suites.deno.files)[0]}`]);
  expect(stderr).toBe(
    `${host}${asked[0]}: the server answered 404 Not Found. Correct the version or the file in reliability/deno-suites/suites.mjs.\n`,
  );
  expect(code).toBe(1);
  expect(await readdir(folder)).toEqual([]);
});
