import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openKv } from "@keywright/core";
import { expect, it } from "vitest";
import { serve } from "../../src/index.js";
import { token } from "../served.js";

const attach = `import { openKv } from "@keywright/core";
const kv = await openKv(process.argv[1]);
await kv.set(["process"], 1);
await kv.get(["process"]);
console.log("ready");
process.stdin.once("data", () => kv.close().then(() => process.exit()));`;

it("the metrics count Keywright's own clients and the processes that have attached", async () => {
  const folder = await mkdtemp(join(tmpdir(), "keywright-metrics-"));
  const kv = await openKv(folder);
  const server = await serve(kv, { port: 0, tokens: [token], metrics: true });
  const headers = { authorization: `Bearer ${token}` };
  const metrics = async () =>
    await (await fetch(new URL("metrics", server.url), { headers })).text();
  const args = ["--input-type=module", "--eval", attach, folder];
  const child = spawn(process.execPath, args, {
    cwd: new URL("..", import.meta.url),
    stdio: ["pipe", "pipe", "inherit"],
  });
  try {
    await once(child.stdout, "data");
    const own = await metrics();
    expect(own).toContain("keywright_attached_clients 0\n");
    expect(own).toContain("keywright_attached_processes 1\n");
    expect(own).toContain('keywright_attached_calls_total{call="commit"} 1\n');
    const client = await openKv(server.url, { token });
    await client.set(["client"], 1);
    const both = await metrics();
    expect(both).toContain("keywright_attached_clients 1\n");
    expect(both).toContain("keywright_attached_processes 1\n");
    expect(both).toContain('keywright_attached_calls_total{call="commit"} 2\n');
    expect(both).toMatch(/keywright_attached_calls_total\{call="get"\} [1-9]/);
    await client.close();
    const exit = once(child, "exit");
    child.stdin.end("end\n");
    await exit;
    await expect.poll(metrics).toContain("keywright_attached_processes 0\n");
  } finally {
    child.kill();
    await server.close();
    await kv.close();
    await rm(folder, { recursive: true, force: true });
  }
});
