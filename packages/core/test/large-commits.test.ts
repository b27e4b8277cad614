import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setImmediate as nextTurn } from "node:timers/promises";
import { expect, it } from "vitest";
import { type EmbeddedKv, openKv } from "../src/index.js";

const count = 20_000;

async function inFolder(test: (kv: EmbeddedKv) => Promise<void>): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), "keywright-large-"));
  try {
    await using kv = await openKv(join(folder, "data"));
    await test(kv);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function inMemory(test: (kv: EmbeddedKv) => Promise<void>): Promise<void> {
  await using kv = await openKv();
  await test(kv);
}

function largeOperation(kv: EmbeddedKv, value: string) {
  const operation = kv.atomic();
  for (let n = 0; n < count; n++) operation.set(["n", n], value);
  return operation;
}

it("a large commit in memory leaves turns of the event loop to others, and nobody sees half of it", async () => {
  await inMemory(async (kv) => {
    await largeOperation(kv, "before").commit();
    const seen = new Set<string>();
    let [turns, isDone] = [0, false];
    const commit = largeOperation(kv, "after")
      .commit()
      .finally(() => {
        isDone = true;
      });
    while (!isDone) {
      const ends = await kv.getMany<string[]>([
        ["n", 0],
        ["n", count - 1],
      ]);
      seen.add(ends.map(({ value }) => value).join());
      await nextTurn();
      turns++;
    }
    expect((await commit).ok).toBe(true);
    // The writes are gathered in ten turns, and handed to the storage in ten more.
    expect(turns).toBeGreaterThanOrEqual(15);
    expect([...seen]).not.toContain("before,after");
    expect([...seen]).not.toContain("after,before");
    expect((await kv.get(["n", count - 1])).value).toBe("after");
  });
});

it.each([
  ["in memory", inMemory],
  ["in a folder", inFolder],
])("commits beside a large one %s keep the order of their calls", async (_, run) => {
  await run(async (kv) => {
    const large = largeOperation(kv, "large").commit();
    const after = kv.set(["n", count - 1], "after");
    const checking = kv
      .atomic()
      .check({ key: ["n", 0], versionstamp: null })
      .set(["n", 0], "never")
      .commit();
    const [first, second, third] = await Promise.all([large, after, checking]);
    if (!first.ok) throw new Error("the large commit was refused");
    expect(second.versionstamp > first.versionstamp).toBe(true);
    expect(third.ok).toBe(false);
    expect((await kv.get(["n", count - 1])).value).toBe("after");
    expect((await kv.get(["n", 0])).value).toBe("large");
  });
});

it("a database that is closed during a large commit ends it first", async () => {
  const folder = await mkdtemp(join(tmpdir(), "keywright-large-"));
  try {
    const kv = await openKv(join(folder, "data"));
    const commit = largeOperation(kv, "large").commit();
    await nextTurn();
    await kv.close();
    expect((await commit).ok).toBe(true);
    await using again = await openKv(join(folder, "data"));
    expect((await again.get(["n", count - 1])).value).toBe("large");
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});
