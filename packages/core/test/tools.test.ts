import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { openKv } from "../src/index.js";
import { type RateLimitOptions, rateLimit, sessions } from "../src/tools.js";
import { withFolder } from "./temporary-folder.js";

const start = 1_700_000_000_000;

beforeEach(() => {
  vi.useFakeTimers({ now: start, toFake: ["Date"] });
});

afterEach(() => {
  vi.useRealTimers();
});

describe("rateLimit", () => {
  it("counts in a window that slides", async () => {
    await using kv = await openKv();
    const limit = rateLimit(kv, ["limits"], { limit: 10, window: 1000 });
    for (let i = 0; i < 10; i++) expect((await limit.take("a")).ok).toBe(true);
    // Ten were counted at the beginning of this window, so all of the next one is needed for ten
    // more.
    expect(await limit.take("a")).toEqual({ ok: false, remaining: 0, retryAfter: 1100 });
    expect((await limit.take("b", 10)).ok).toBe(true);
    vi.setSystemTime(start + 1099);
    expect((await limit.take("a")).ok).toBe(false);
    vi.setSystemTime(start + 1100);
    expect(await limit.take("a")).toEqual({ ok: true, remaining: 0, retryAfter: 0 });
    vi.setSystemTime(start + 1500);
    expect(await limit.take("a", 5)).toMatchObject({ ok: false, retryAfter: 100 });
    vi.setSystemTime(start + 1600);
    expect(await limit.take("a", 5)).toMatchObject({ ok: true, remaining: 0 });
    vi.setSystemTime(start + 4000);
    expect(await limit.take("a", 10)).toMatchObject({ ok: true, remaining: 0 });
  });

  it("fills a bucket again", async () => {
    await using kv = await openKv();
    const limit = rateLimit(kv, ["limits"], { burst: 3, perSecond: 2 });
    expect(await limit.take("a", 3)).toEqual({ ok: true, remaining: 0, retryAfter: 0 });
    expect(await limit.take("a")).toEqual({ ok: false, remaining: 0, retryAfter: 500 });
    vi.setSystemTime(start + 500);
    expect((await limit.take("a")).ok).toBe(true);
    vi.setSystemTime(start + 10_000);
    expect(await limit.take("a")).toMatchObject({ ok: true, remaining: 2 });
    // The state has expired.
    vi.setSystemTime(start + 20_000);
    expect(await limit.take("a")).toMatchObject({ ok: true, remaining: 2 });
  });

  it.each<RateLimitOptions>([
    { limit: 10, window: 60_000 },
    { burst: 10, perSecond: 0.001 },
  ])("permits no more if many calls of several handles come at once, with %o", async (options) => {
    await withFolder(async (folder) => {
      const handles = [await openKv(folder), await openKv(folder)];
      const limits = handles.map((kv) => rateLimit(kv, ["limits"], options));
      const calls = Array.from({ length: 200 }, (_, i) => limits[i % 2]!.take("a"));
      const results = await Promise.all(calls);
      expect(results.filter(({ ok }) => ok)).toHaveLength(10);
      await limits[0]!.reset("a");
      expect((await limits[1]!.take("a", 10)).ok).toBe(true);
      for (const kv of handles) await kv.close();
    });
  });

  it("makes one commit for calls that come together", async () => {
    await using kv = await openKv();
    const atomic = vi.spyOn(kv, "atomic");
    const limit = rateLimit(kv, ["limits"], { limit: 1000, window: 60_000 });
    await Promise.all(Array.from({ length: 500 }, () => limit.take("a")));
    expect(atomic.mock.calls.length).toBeLessThanOrEqual(2);
  });

  it("makes one commit for calls about equal bytes, also if the caller changes them", async () => {
    await using kv = await openKv();
    const atomic = vi.spyOn(kv, "atomic");
    const limit = rateLimit(kv, ["limits"], { limit: 5, window: 60_000 });
    const ids = Array.from({ length: 10 }, () => new Uint8Array([1, 2]));
    const calls = ids.map((id) => limit.take(id));
    for (const id of ids) id[0] = 9;
    expect((await Promise.all(calls)).filter(({ ok }) => ok)).toHaveLength(5);
    expect(atomic.mock.calls.length).toBeLessThanOrEqual(2);
    expect((await limit.take(new Uint8Array([1, 2]))).ok).toBe(false);
    expect((await limit.take(new Uint8Array([9, 2]))).ok).toBe(true);
  });

  it.each<RateLimitOptions>([
    { burst: 15, perSecond: 1 / 3 },
    { burst: 4, perSecond: 0.3 },
    { limit: 7, window: 777 },
    { limit: 7, window: 1000 / 3 },
  ])("permits a call after its retryAfter, with %o", async (options) => {
    await using kv = await openKv();
    const limit = rateLimit(kv, ["limits"], options);
    let now = start;
    for (let i = 0; i < 1000; i++) {
      now += (i * 7919) % 613;
      vi.setSystemTime(now);
      const cost = 1 + (i % 3);
      const { ok, retryAfter } = await limit.take("a", cost);
      if (ok) continue;
      expect(retryAfter).toBeGreaterThan(0);
      now += retryAfter;
      vi.setSystemTime(now);
      expect(await limit.take("a", cost)).toMatchObject({ ok: true, retryAfter: 0 });
    }
  });

  it("counts what the window before had, also if the windows are fractions", async () => {
    await using kv = await openKv();
    const window = 1000 / 3;
    const limit = rateLimit(kv, ["limits"], { limit: 10, window });
    const begin = Math.ceil(start / window + 10);
    vi.setSystemTime(Math.ceil((begin + 0.9) * window));
    expect((await limit.take("a", 10)).ok).toBe(true);
    vi.setSystemTime(Math.ceil((begin + 1) * window) + 1);
    expect((await limit.take("a", 5)).ok).toBe(false);
  });

  it.each<RateLimitOptions>([
    { limit: 2, window: 1000 },
    { burst: 2, perSecond: 1 },
  ])("forgets what a clock that was hours ahead has counted, with %o", async (options) => {
    await using kv = await openKv();
    const limit = rateLimit(kv, ["limits"], options);
    await limit.take("a", 2);
    // A clock that is a little ahead permits no more.
    vi.setSystemTime(start - 60_000);
    const { ok, retryAfter } = await limit.take("a");
    expect(ok).toBe(false);
    expect(retryAfter).toBeGreaterThan(60_000);
    vi.setSystemTime(start - 7_200_000);
    expect((await limit.take("a", 2)).ok).toBe(true);
    expect((await limit.take("a")).ok).toBe(false);
  });

  it.each<RateLimitOptions>([
    { limit: 1, window: 1.25 },
    { limit: 1, window: 90 * 86_400_000 },
    { burst: 10, perSecond: 1e-12 },
    { burst: 1e300, perSecond: 1e-300 },
  ])("stores states that Deno KV accepts, with %o", async (options) => {
    await using kv = await openKv(":memory:", { compat: "deno" });
    expect((await rateLimit(kv, ["limits"], options).take("a")).ok).toBe(true);
  });

  it("rejects all calls if the database fails, and goes on afterwards", async () => {
    const kv = await openKv();
    const limit = rateLimit(kv, ["limits"], { limit: 1, window: 1000 });
    await kv.close();
    const calls = await Promise.allSettled([limit.take("a"), limit.take("a")]);
    for (const call of calls) {
      expect(call).toMatchObject({ reason: { code: "KW_DATABASE_CLOSED" } });
    }
    await expect(limit.take("a")).rejects.toMatchObject({ code: "KW_DATABASE_CLOSED" });
  });

  it.each([
    { limit: 0, window: 1000 },
    { limit: 1, window: 0 },
    { burst: Number.POSITIVE_INFINITY, perSecond: 1 },
    { burst: 1, perSecond: Number.NaN },
  ])("refuses the options %o", async (options) => {
    await using kv = await openKv();
    expect(() => rateLimit(kv, ["limits"], options)).toThrow(/must be/);
  });

  it.each([0, -1, 11, Number.NaN])("refuses the cost %d", async (cost) => {
    await using kv = await openKv();
    const limit = rateLimit(kv, ["limits"], { limit: 10, window: 1000 });
    await expect(limit.take("a", cost)).rejects.toMatchObject({ option: "cost" });
  });
});

describe("sessions", () => {
  it("begins, changes and ends sessions", async () => {
    await using kv = await openKv();
    const logins = sessions<{ theme: string }>(kv);
    const { id } = await logins.create("ada", { theme: "dark" });
    expect(await logins.get(id)).toEqual({ id, user: "ada", data: { theme: "dark" } });
    const isChanged = await Promise.all([
      logins.update(id, ({ theme }) => ({ theme: `${theme}!` })),
      logins.update(id, ({ theme }) => ({ theme: `${theme}!` })),
    ]);
    expect(isChanged).toEqual([true, true]);
    expect((await logins.get(id))?.data).toEqual({ theme: "dark!!" });
    await logins.end(id);
    await logins.end(id);
    expect(await logins.get(id)).toBeUndefined();
    expect(await logins.update(id, (data) => data)).toBe(false);
    expect(await kv.list({ prefix: [] }).next()).toMatchObject({ done: true });
  });

  it("stores nothing with which one can log in", async () => {
    await using kv = await openKv();
    const { id } = await sessions(kv).create("ada", { secret: 1 });
    for await (const { key, value } of kv.list({ prefix: [] })) {
      expect(JSON.stringify([key, value])).not.toContain(id);
      for (const part of key) expect(await sessions(kv).get(String(part))).toBeUndefined();
    }
  });

  it("extends sessions that are used, and ends those that are not", async () => {
    await using kv = await openKv();
    const logins = sessions(kv, { lifetime: 10_000 });
    const [used, unused] = [await logins.create(1, "used"), await logins.create(1, "unused")];
    const stamps = new Set<string | null>();
    for (let passed = 0; passed <= 30_000; passed += 500) {
      vi.setSystemTime(start + passed);
      expect((await logins.get(used.id))?.data).toBe("used");
      for await (const { value, versionstamp } of kv.list({ prefix: ["sessions", "by_id"] }))
        if ((value as { data: unknown }).data === "used") stamps.add(versionstamp);
    }
    expect(stamps.size).toBeLessThanOrEqual(22);
    expect(await logins.get(unused.id)).toBeUndefined();
    expect(await logins.endAll(1)).toBe(1);
  });

  it("returns sessions of a database that is open for reading only", async () => {
    await withFolder(async (folder) => {
      const kv = await openKv(folder);
      const { id } = await sessions(kv, { lifetime: 10_000 }).create("ada", 1);
      await kv.close();
      await using readOnly = await openKv(folder, { readOnly: true });
      vi.setSystemTime(start + 5000);
      expect((await sessions(readOnly, { lifetime: 10_000 }).get(id))?.user).toBe("ada");
    });
  });

  it("ends all sessions of a user but one", async () => {
    await using kv = await openKv();
    const logins = sessions(kv, { prefix: ["app", "logins"] });
    const ofAda = [await logins.create("ada", 1), await logins.create("ada", 2)];
    const ofBob = await logins.create("bob", 3);
    expect(await logins.endAll("ada", { except: ofAda[1]!.id })).toBe(1);
    expect(await logins.get(ofAda[0]!.id)).toBeUndefined();
    expect(await logins.get(ofAda[1]!.id)).toBeDefined();
    expect(await logins.get(ofBob.id)).toBeDefined();
  });

  it.each([30 * 86_400_000, 1500.3])("accepts the lifetime %d", async (lifetime) => {
    await using kv = await openKv(":memory:", { compat: "deno" });
    const logins = sessions(kv, { lifetime });
    const { id } = await logins.create("ada", 1);
    vi.setSystemTime(start + lifetime - 100);
    expect((await logins.get(id))?.data).toBe(1);
    vi.setSystemTime(start + 2 * lifetime);
    expect(await logins.get(id)).toBeUndefined();
  });

  it("refuses a lifetime that is too short", async () => {
    await using kv = await openKv();
    expect(() => sessions(kv, { lifetime: 10 })).toThrow(/lifetime must be/);
  });
});
