import { execFile } from "node:child_process";
import { readFile } from "node:fs/promises";
import { connect as connectHttp2 } from "node:http2";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { readToken, token, withServer } from "./served.js";

const file = (name: string) => fileURLToPath(new URL(`tls/${name}`, import.meta.url));
const cert = await readFile(file("localhost.crt"), "utf8");
const tls = { cert, key: await readFile(file("localhost.key"), "utf8") };
const run = promisify(execFile);

it("serves both clients with TLS, if they trust the certificate", async () => {
  await withServer({ compat: "deno", tls }, async ({ url }, kv) => {
    expect(url).toMatch(/^https:/);
    const program = fileURLToPath(new URL("tls-clients.mjs", import.meta.url));
    // Node.js reads this variable when it starts.
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: file("localhost.crt") };
    const { stdout } = await run(process.execPath, [program, url, token], { env });
    expect(stdout).toBe("1 2\n");
    expect((await kv.get(["own"])).value).toBe(1);
    await expect(run(process.execPath, [program, url, token])).rejects.toMatchObject({
      stderr: expect.stringContaining("KW_ENGINE_UNAVAILABLE"),
    });
  });
});

it("answers over HTTP/2 with TLS, and nothing without it", async () => {
  await withServer({ compat: "deno", tls }, async ({ url }) => {
    const session = connectHttp2(url, { ca: cert });
    const stream = session.request({ ":path": "/", authorization: `Bearer ${readToken}` });
    const status = await new Promise((resolve) =>
      stream.on("response", (headers) => resolve(headers[":status"])),
    );
    expect(status).toBe(405);
    session.close();
    await expect(fetch(url.replace("https:", "http:"))).rejects.toThrow();
  });
});
