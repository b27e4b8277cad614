import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import * as fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { type Lease, leaseKey, type StoredLease, takeLease } from "../src/state/run/lease.js";
import { createRun, Throttle } from "../src/state/run/migration-run.js";
import { denoKv, interferingKv } from "./faulty-kv.js";
import { rejection } from "./user-model.js";

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

async function take(on: Kv = kv, timeToLive?: number): Promise<Lease> {
  const lease = await takeLease(on, { wait: false, timeToLive });
  if (typeof lease === "string") throw new Error(lease);
  return lease;
}

const stored = async () => (await kv.get<StoredLease>(leaseKey)).value;

/** The lease of a runner of another process. */
const foreign = (changes: Partial<StoredLease> = {}): StoredLease => ({
  format: 1,
  runner: "theirs",
  process: "another",
  host: "there",
  takenAt: new Date(),
  expiresAt: new Date(Date.now() + 15_000),
  timeToLive: 15_000,
  ...changes,
});

describe("a lease", () => {
  it("is one runner's at a time, and another's when it is released", async () => {
    const first = await take();
    expect(await takeLease(kv, { wait: false })).toBe("busy");
    expect(await takeLease(denoKv(kv), { wait: false })).toBe("busy");
    await first.release();
    expect(await stored()).toBeNull();
    const second = await take();
    expect((await stored())?.runner).toBe(second.runner);
  });

  it("is waited for", async () => {
    const first = await take();
    let isTaken = false;
    const waiting = takeLease(kv, { wait: true }).then((lease) => {
      isTaken = true;
      return lease;
    });
    await first.commit(kv.atomic().set(["a"], 1));
    expect(isTaken).toBe(false);
    await first.release();
    expect((await stored())?.runner).not.toBe(first.runner);
    expect(await waiting).toMatchObject({ runner: expect.any(String) });
  });

  it("goes to one of several who wait for it", async () => {
    const first = await take();
    const waiting = Array.from({ length: 5 }, () => takeLease(kv, { wait: true }));
    await first.release();
    const order: string[] = [];
    await Promise.all(
      waiting.map(async (one) => {
        const lease = await one;
        if (typeof lease === "string") throw new Error(lease);
        order.push(lease.runner);
        expect((await stored())?.runner).toBe(lease.runner);
        await lease.commit(kv.atomic().set(["turn"], lease.runner));
        expect((await kv.get(["turn"])).value).toBe(lease.runner);
        await lease.release();
      }),
    );
    expect(new Set(order).size).toBe(5);
  });

  it("is not waited for any more when the signal says so", async () => {
    await take();
    const stop = new AbortController();
    const waiting = takeLease(kv, { wait: true, signal: stop.signal });
    setTimeout(() => stop.abort(), 0);
    expect(await waiting).toBe("stopped");
    expect(await takeLease(kv, { wait: true, signal: AbortSignal.abort() })).toBe("stopped");
  });

  /** The database, which says that several processes can have it open, or that one can. */
  const declaring = (isShared: boolean): Kv => {
    const limits = { value: kv.limits };
    const declared = Object.create(kv, { isShared: { value: isShared }, limits });
    for (const method of ["get", "atomic"] as const) declared[method] = kv[method].bind(kv);
    return declared;
  };

  it("of another process is dead where one process has the database open, whatever its clock says", async () => {
    await kv.set(leaseKey, foreign());
    const lease = await take(declaring(false));
    expect((await stored())?.runner).toBe(lease.runner);
  });

  it("of another process is left alone in a shared database", async () => {
    await kv.set(leaseKey, foreign());
    expect(await takeLease(declaring(true), { wait: false })).toBe("busy");
    expect((await stored())?.runner).toBe("theirs");
  });

  it("of another process is left alone elsewhere, while it looks alive", async () => {
    await kv.set(leaseKey, foreign());
    expect(await takeLease(denoKv(kv), { wait: false })).toBe("busy");
    expect((await stored())?.runner).toBe("theirs");
  });

  it.each([true, false])(
    "of another process is taken over when it has not changed for its time (waiting: %s)",
    async (wait) => {
      // Its clock is an hour behind: that it has run out by this one's says nothing.
      const expiresAt = new Date(Date.now() - 3_600_000);
      await kv.set(leaseKey, foreign({ timeToLive: 30, expiresAt }));
      const lease = await takeLease(denoKv(kv), { wait });
      expect(lease).toMatchObject({ runner: expect.any(String) });
    },
  );

  it("of a clock that is an hour ahead is taken over too, by one who waits", async () => {
    const expiresAt = new Date(Date.now() + 3_600_000);
    await kv.set(leaseKey, foreign({ timeToLive: 30, expiresAt }));
    expect(await takeLease(denoKv(kv), { wait: true })).toMatchObject({
      runner: expect.any(String),
    });
  });

  it("that seems to have run out is busy when it is renewed after all", async () => {
    const expiresAt = new Date(Date.now() - 3_600_000);
    const late = foreign({ timeToLive: 1000, expiresAt });
    await kv.set(leaseKey, late);
    let looks = 0;
    const renewing = interferingKv(
      denoKv(kv),
      async () => undefined,
      async () => {
        if (++looks === 3) await kv.set(leaseKey, late);
      },
    );
    expect(await takeLease(renewing, { wait: false })).toBe("busy");
    expect(looks).toBe(3);
  });

  it("of this process is free at once when its runner has ended, even where it could not say so", async () => {
    const refusing = interferingKv(denoKv(kv), async () => {
      if ((await stored()) !== null) throw new Error("the network is down");
    });
    const lease = await take(refusing);
    await lease.release();
    expect((await stored())?.runner).toBe(lease.runner);
    expect((await take(denoKv(kv))).runner).not.toBe(lease.runner);
  });

  it("commits nothing when another has it", async () => {
    const lease = await take();
    await kv.set(leaseKey, foreign());
    const lost = { code: "KW_LEASE_LOST", retryable: true };
    expect(await rejection(lease.commit(kv.atomic().set(["a"], 1)))).toMatchObject(lost);
    expect((await kv.get(["a"])).value).toBeNull();
    // And takes nothing from them when it ends.
    await lease.release();
    expect((await stored())?.runner).toBe("theirs");
  });

  it("tells a failed check of the commit from its own", async () => {
    const lease = await take();
    await kv.set(["a"], 1);
    const operation = kv
      .atomic()
      .check({ key: ["a"], versionstamp: null })
      .set(["a"], 2);
    expect(await lease.commit(operation)).toEqual({ ok: false });
    expect((await kv.get(["a"])).value).toBe(1);
  });

  it("is renewed by commits, and by who reads for long, when a third of its time is gone", async () => {
    const lease = await take(kv, 30);
    const until = async (write: () => Promise<unknown>) => {
      const before = (await kv.get(leaseKey)).versionstamp;
      while ((await kv.get(leaseKey)).versionstamp === before) {
        await new Promise((resolve) => setTimeout(resolve, 1));
        await write();
      }
    };
    await until(() => lease.commit(kv.atomic().set(["a"], 1)));
    await until(() => lease.renew());
    await until(() => createRun(lease, {}).afterBatch(1));
    expect(await stored()).toMatchObject({ runner: lease.runner, timeToLive: 30 });
    const fresh = await take2(lease);
    const { versionstamp } = await kv.get(leaseKey);
    await fresh.renew();
    await fresh.commit(kv.atomic().set(["a"], 2));
    expect((await kv.get(leaseKey)).versionstamp).toBe(versionstamp);
  });

  it("is renewed again and again while a run with a limited rate waits", async () => {
    const lease = await take(kv, 30);
    // Waits for 1.2 seconds. The lease is checked each second, and at the end.
    let isWaiting = true;
    const wait = createRun(lease, { rowsPerSecond: 100 })
      .afterBatch(120)
      .finally(() => {
        isWaiting = false;
      });
    const versionstamps = new Set<string | null>();
    while (isWaiting) {
      await new Promise((resolve) => setTimeout(resolve, 20));
      versionstamps.add((await kv.get(leaseKey)).versionstamp);
    }
    await wait;
    expect(versionstamps.size).toBeGreaterThanOrEqual(3);
  });

  /** A lease of the usual time behind another. */
  async function take2(other: Lease): Promise<Lease> {
    await other.release();
    return await take();
  }

  it("stays held where a renewal was written whose commit said nothing", async () => {
    const lost = interferingKv(kv, async () => undefined);
    const answers = new Proxy(lost, {
      get(target, property) {
        const member: unknown = Reflect.get(target, property, target);
        return typeof member === "function" ? member.bind(target) : member;
      },
    });
    const lease = await take(answers, 3);
    await new Promise((resolve) => setTimeout(resolve, 2));
    const operation = kv.atomic().set(["a"], 1);
    const commit = operation.commit.bind(operation);
    operation.commit = async () => {
      await commit();
      throw new Error("the network is down");
    };
    await rejection(lease.commit(operation));
    // The next commit finds another versionstamp, and the one behind it is made.
    const results = [];
    for (let i = 0; i < 2; i++) results.push(await lease.commit(kv.atomic().set(["b"], i)));
    expect(results.at(-1)?.ok).toBe(true);
  });

  it("is taken in turn by commits at once", async () => {
    const lease = await take(kv, 0.001);
    const results = await Promise.all(
      Array.from({ length: 10 }, (_, i) => lease.commit(kv.atomic().set(["a", i], i))),
    );
    expect(results.every(({ ok }) => ok)).toBe(true);
  });
});

describe("a throttle", () => {
  it("never lets more rows through than it may, whatever the batches", () => {
    const batches = fc.array(fc.record({ rows: fc.nat(1000), work: fc.nat(5000) }), {
      minLength: 1,
    });
    fc.assert(
      fc.property(batches, fc.integer({ min: 1, max: 10_000 }), (done, rate) => {
        const throttle = new Throttle(rate);
        let now = 0;
        let rows = 0;
        for (const batch of done) {
          now += batch.work;
          rows += batch.rows;
          now += throttle.afterBatch(batch.rows, now);
          expect(now).toBeGreaterThanOrEqual((rows / rate) * 1000 - 1e-6 * now - 1e-6);
        }
      }),
    );
  });

  it("does not hold up who is slower anyway, nor without a bound", () => {
    expect(new Throttle(Number.POSITIVE_INFINITY).afterBatch(1e9, 0)).toBe(0);
    const throttle = new Throttle(10);
    expect(throttle.afterBatch(10, 0)).toBe(1000);
    expect(throttle.afterBatch(10, 5000)).toBe(1000);
    // Who does not wait has to wait longer then.
    expect(throttle.afterBatch(10, 5000)).toBe(2000);
  });

  it.each([0, -1, Number.NaN])("refuses %s rows a second", (rate) => {
    expect(() => new Throttle(rate)).toThrow(
      expect.objectContaining({ code: "KW_ARGUMENT_INVALID", argument: "rowsPerSecond" }),
    );
  });
});
