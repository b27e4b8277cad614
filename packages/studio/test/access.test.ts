import { networkInterfaces } from "node:os";
import { openKv } from "@keywright/core";
import { expect, it } from "vitest";
import { startStudio } from "../src/start-studio.js";
import { openStudio, send } from "./open-studio.js";

const body = "[null]";

it("lets the browser in that opens the address, and no other", async () => {
  await using kv = await openKv();
  const studio = await startStudio({ kv });
  try {
    const first = await send(studio.url);
    expect(first.status).toBe(200);
    const [cookie = ""] = first.headers["set-cookie"] ?? [];
    expect(cookie).toMatch(/; Path=\/; HttpOnly; SameSite=Strict$/);
    // The token was used.
    expect((await send(studio.url)).status).toBe(403);
  } finally {
    await studio.close();
  }
});

it("refuses a token that is wrong", async () => {
  await using kv = await openKv();
  await using open = await openStudio({ kv });
  expect((await send(`${open.base}?token=x`)).status).toBe(403);
  const { status, headers } = await send(`${open.base}?token=x`, { cookie: open.cookie });
  // The browser that is in already only reloads.
  expect([status, headers["set-cookie"]]).toEqual([200, undefined]);
});

it.each(["", "api/info", "api/changes?property=users", "api/export?property=users", "assets/x.js"])(
  "answers nothing at /%s without the cookie",
  async (path) => {
    await using kv = await openKv();
    await using open = await openStudio({ kv });
    const origin = open.base.slice(0, -1);
    for (const cookie of ["", "keywright-studio=x", `${open.cookie}x`]) {
      const { status, text } = await send(`${open.base}${path}`, { cookie, origin });
      expect(status).toBe(403);
      expect(text).toMatch(/^Open the address/);
      expect((await send(`${open.base}${path}`, { cookie, origin }, body)).status).toBe(403);
    }
  },
);

it("refuses a host name that leads to the loopback address", async () => {
  await using kv = await openKv();
  await using open = await openStudio({ kv });
  const { cookie, base } = open;
  const { port } = new URL(base);
  for (const host of [`evil.example:${port}`, "127.0.0.1", `127.0.0.1:${Number(port) + 1}`]) {
    const headers = { cookie, host, origin: `http://${host}` };
    expect((await send(`${base}api/info`, headers, body)).status).toBe(421);
  }
  const headers = { cookie, host: `localhost:${port}`, origin: `http://localhost:${port}` };
  expect((await send(`${base}api/info`, headers, body)).status).toBe(200);
});

it.each(["http://evil.example", "null", "http://127.0.0.1:1", "https://127.0.0.1"])(
  "refuses a call by a page of %s",
  async (origin) => {
    await using kv = await openKv();
    await using open = await openStudio({ kv });
    const headers = { cookie: open.cookie, origin };
    expect((await send(`${open.base}api/info`, headers, body)).status).toBe(403);
    expect((await send(`${open.base}api/changes?property=x`, headers)).status).toBe(403);
  },
);

it("refuses a call without an origin, and what another site embeds", async () => {
  await using kv = await openKv();
  await using open = await openStudio({ kv });
  const { cookie, base } = open;
  expect((await send(`${base}api/info`, { cookie }, body)).status).toBe(403);
  const embedded = { cookie, "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" };
  expect((await send(base, embedded)).status).toBe(403);
  expect((await send(base, { ...embedded, "sec-fetch-site": "same-site" })).status).toBe(403);
});

it("forbids inline scripts, frames and requests to other hosts", async () => {
  await using kv = await openKv();
  await using open = await openStudio({ kv });
  const { headers } = await send(open.base, { cookie: open.cookie });
  const policy = String(headers["content-security-policy"]);
  expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(headers).toMatchObject({
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
  });
});

it("serves its page, and the licenses of the code in it", async () => {
  await using kv = await openKv();
  await using open = await openStudio({ kv });
  const get = async (path: string) =>
    (await send(`${open.base}${path}`, { cookie: open.cookie })).text;
  expect(await get("")).toContain('<script type="module"');
  const licenses = await get("licenses.txt");
  for (const name of ["preact", "devalue", "@tanstack/table-core"]) {
    expect(licenses).toContain(`${name}\n\n`);
  }
});

it("serves no files outside of its page", async () => {
  await using kv = await openKv();
  await using open = await openStudio({ kv });
  for (const path of ["../index.js", "..%2findex.js", "%2e%2e/index.js", "..\\index.js"]) {
    const { status, text } = await send(`${open.base}${path}`, { cookie: open.cookie });
    expect([status, text.includes("startStudio")]).toEqual([404, false]);
  }
});

it("listens on the loopback address only", async () => {
  await using kv = await openKv();
  await using open = await openStudio({ kv });
  const { hostname, port } = new URL(open.studio.url);
  expect(hostname).toBe("127.0.0.1");
  const others = Object.values(networkInterfaces()).flatMap((list = []) => list);
  for (const { address, family, internal } of others) {
    if (internal || family !== "IPv4") continue;
    const answer = send(`http://${address}:${port}/`);
    await expect(answer).rejects.toMatchObject({ code: "ECONNREFUSED" });
  }
});

it("refuses bodies that are too large", async () => {
  await using kv = await openKv();
  await using open = await openStudio({ kv });
  const headers = { cookie: open.cookie, origin: open.base.slice(0, -1) };
  const large = "x".repeat(9 * 1024 * 1024);
  expect((await send(`${open.base}api/info`, headers, large)).status).toBe(413);
});
