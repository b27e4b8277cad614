import { type ChildProcess, fork } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { inspect } from "node:util";
import { S3Client } from "@aws-sdk/client-s3";
import { openKv } from "@keywright/core";
import { backup, restore, verifyBackup } from "@keywright/core/backup";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from "vitest";
import { type S3Sink, type S3SinkOptions, s3Sink } from "../src/index.js";

let server: ChildProcess;
let folder: string;
let endpoint: string;
let prefixes = 0;
let sink: S3Sink;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "keywright-s3-"));
  const program = fileURLToPath(new URL("s3-server.mjs", import.meta.url));
  server = fork(program, [folder], { execArgv: ["--openssl-legacy-provider"] });
  const port = await new Promise((resolve) => server.once("message", resolve));
  endpoint = `http://127.0.0.1:${String(port)}`;
});

afterAll(async () => {
  const ended = new Promise((resolve) => server.once("exit", resolve));
  server.kill();
  await ended;
  await rm(folder, { recursive: true, force: true });
});

beforeEach(() => {
  vi.stubEnv("AWS_ACCESS_KEY_ID", "S3RVER");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "S3RVER");
  vi.stubEnv("AWS_REGION", "us-east-1");
  sink = s3Sink({ bucket: "backups", prefix: `test/${prefixes++}`, endpoint });
});

afterEach(() => {
  sink.close();
  vi.unstubAllEnvs();
});

describe("s3Sink", () => {
  it("keeps, lists and removes objects", async () => {
    await sink.put("a/1.chunk", Uint8Array.of(1, 2, 3));
    await sink.put("a/1.chunk", Uint8Array.of(4));
    await sink.put("b.full", new Uint8Array(0));
    expect([...(await sink.get("a/1.chunk"))!]).toEqual([4]);
    expect((await sink.get("b.full"))?.length).toBe(0);
    expect(await sink.get("a/2.chunk")).toBeUndefined();
    expect([...(await sink.list(""))].sort()).toEqual(["a/1.chunk", "b.full"]);
    expect(await sink.list("a/")).toEqual(["a/1.chunk"]);
    await sink.delete("a/1.chunk");
    expect(await sink.list("")).toEqual(["b.full"]);
  });

  it("lists more objects than one answer has", async () => {
    const names = Array.from({ length: 1100 }, (_, n) => `a/${String(n).padStart(8, "0")}`);
    for (let i = 0; i < names.length; i += 50)
      await Promise.all(names.slice(i, i + 50).map((name) => sink.put(name, Uint8Array.of(1))));
    expect([...(await sink.list("a/"))].sort()).toEqual(names);
  });

  it("has backups, from which each moment is restored", async () => {
    await using kv = await openKv(":memory:", { log: {} });
    // More than one chunk of 4 MiB.
    for (let n = 0; n < 60; n++)
      await kv.set(["row", n], crypto.getRandomValues(new Uint8Array(60_000)));
    await kv.set(["large"], new Uint8Array(6_000_000).fill(7));
    const key = crypto.getRandomValues(new Uint8Array(32));
    await backup(kv, sink, { key });
    const { versionstamp } = await kv.set(["a"], 1);
    await kv.delete(["a"]);
    await backup(kv, sink, { incremental: true, key });
    expect((await verifyBackup(sink, { key })).entries).toBe(61);
    await using restored = await openKv();
    await restore(sink, restored, { at: versionstamp, key });
    expect((await restored.get(["a"])).value).toBe(1);
    expect((await restored.get<Uint8Array>(["large"])).value?.[5_999_999]).toBe(7);
    await backup(kv, sink, { keep: 1, key });
    expect((await verifyBackup(sink, { key })).backups).toBe(1);
  });

  it("gives up a storage that does not answer", async () => {
    const sockets = new Set<Socket>();
    const silent = createServer((socket) => void sockets.add(socket.on("error", () => undefined)));
    await new Promise<void>((resolve) => silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as AddressInfo;
    const waiting = s3Sink({
      bucket: "backups",
      endpoint: `http://127.0.0.1:${port}`,
      timeout: 20,
    });
    try {
      for (const call of [
        () => waiting.put("a", new Uint8Array(1)),
        () => waiting.get("a"),
        () => waiting.list(""),
      ])
        await expect(call()).rejects.toMatchObject({
          code: "KW_S3_REQUEST_FAILED",
          retryable: true,
        });
    } finally {
      waiting.close();
      for (const socket of sockets) socket.destroy();
      silent.close();
    }
    const wrong = { bucket: "backups", timeout: 0 };
    expect(() => s3Sink(wrong)).toThrow(expect.objectContaining({ option: "timeout" }));
  });

  it("says what has failed, without the credentials", async () => {
    vi.stubEnv("AWS_ACCESS_KEY_ID", "UNKNOWN");
    vi.stubEnv("AWS_SECRET_ACCESS_KEY", "not the secret");
    const wrong = s3Sink({ bucket: "backups", endpoint });
    const error = (await wrong
      .put("a", new Uint8Array(1))
      .catch((reason: unknown) => reason)) as Error;
    expect(error).toMatchObject({ code: "KW_S3_REQUEST_FAILED", status: 403, retryable: false });
    expect(error.message).toContain("Check the credentials");
    expect(error.message).not.toContain("not the secret");
    wrong.close();
    vi.unstubAllEnvs();
    const client = new S3Client({
      ...{ endpoint, region: "us-east-1", forcePathStyle: true, maxAttempts: 1 },
      credentials: { accessKeyId: "S3RVER", secretAccessKey: "S3RVER" },
    });
    const missing = s3Sink({ bucket: "no-bucket", client });
    const calls = [
      () => missing.get("a"),
      () => missing.list(""),
      () => missing.put("a", new Uint8Array(1)),
    ];
    for (const call of calls) {
      const refused = (await call().catch((reason: unknown) => reason)) as Error;
      expect(refused).toMatchObject({ code: "KW_S3_REQUEST_FAILED", status: 404 });
      // What a program prints has neither the key nor a signature.
      expect(inspect(refused, { depth: 10 })).not.toMatch(/S3RVER|Signature/);
    }
    missing.close();
    client.destroy();
    const closed = s3Sink({ bucket: "backups", endpoint: "http://127.0.0.1:1", region: "a" });
    await expect(closed.list("")).rejects.toMatchObject({ code: "KW_S3_REQUEST_FAILED" });
  });

  it.each([
    [{ bucket: "ada:secret@backups" }, "bucket"],
    [{ bucket: "" }, "bucket"],
    [{ bucket: "backups", prefix: "/app" }, "prefix"],
    [{ bucket: "backups", endpoint: "nowhere" }, "endpoint"],
  ])("refuses %j", (options, option) => {
    expect(() => s3Sink(options as S3SinkOptions)).toThrow(
      expect.objectContaining({ code: "KW_OPTION_INVALID", option }) as Error,
    );
  });
});
