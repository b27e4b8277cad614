import { createHash } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { backup, restore, verifyBackup } from "../src/backup.js";
import { type EmbeddedKv, openKv } from "../src/index.js";
import { SortedItems } from "../src/kv/backup/restore/sorted-items.js";
import { MemorySink } from "./backup-sink.js";
import { withFolder } from "./temporary-folder.js";

const damaged = { code: "KW_BACKUP_DAMAGED" };

/** The objects of a backup with several chunks, and three objects of commits. */
let made: ReadonlyMap<string, Uint8Array>;
beforeAll(async () => {
  await using kv = await openKv(":memory:", { log: {} });
  const sink = new MemorySink();
  for (let n = 0; n < 300; n++) await kv.set(["row", n], { n, filler: "x".repeat(50_000) });
  await backup(kv, sink);
  for (const n of [1, 2, 3]) {
    await kv.atomic().set(["row", n], "changed").set(["last"], n).commit();
    await backup(kv, sink, { incremental: true });
  }
  made = sink.objects;
});

/** Returns a copy of the backup, which a test may damage. */
function copyOfBackup(): MemorySink {
  const sink = new MemorySink();
  for (const [name, bytes] of made) sink.objects.set(name, bytes.slice());
  return sink;
}

async function keysOf(kv: EmbeddedKv): Promise<number> {
  let keys = 0;
  for await (const _ of kv.list({ prefix: ["row"] })) keys++;
  return keys;
}

const damages: Readonly<Record<string, (sink: MemorySink, name: string) => void>> = {
  "a changed byte": (sink, name) => {
    const bytes = sink.objects.get(name)!;
    bytes[bytes.length >> 1]! ^= 4;
  },
  "a lost end": ({ objects }, name) => void objects.set(name, objects.get(name)!.slice(0, -9)),
  "no bytes": ({ objects }, name) => void objects.set(name, new Uint8Array(0)),
  "an older object": ({ objects }, name) => {
    const other = [...objects.keys()].find((each) => each.endsWith(".chunk") && each !== name);
    objects.set(name, objects.get(other!)!);
  },
};

describe.each(Object.entries(damages))("%s", (_, damage) => {
  it("of any object is an error, and nothing is written", async () => {
    const sink = copyOfBackup();
    expect(sink.named(".chunk").length).toBeGreaterThan(1);
    expect(sink.named("log-").length).toBe(3);
    for (const name of sink.objects.keys()) {
      const sound = sink.objects.get(name)!.slice();
      damage(sink, name);
      await using kv = await openKv();
      const refused = await restore(sink, kv).catch((error: unknown) => error);
      expect(["KW_BACKUP_DAMAGED", "KW_BACKUP_FORMAT"]).toContain(
        (refused as { code: string }).code,
      );
      expect(await keysOf(kv)).toBe(0);
      await expect(verifyBackup(sink)).rejects.toThrow(/backup/i);
      sink.objects.set(name, sound);
    }
    await verifyBackup(sink);
  });
});

describe("a missing object", () => {
  it("is an error that says what is lost", async () => {
    const sink = copyOfBackup();
    const [chunk] = sink.named(".chunk");
    const [first] = sink.named("log-");
    for (const [name, lost] of [
      [chunk!, /of the 300 entries of the full backup/],
      [first!, /the commits after [0-9a-f]{20} up to [0-9a-f]{20}/],
    ] as const) {
      const bytes = sink.objects.get(name)!;
      sink.objects.delete(name);
      await using kv = await openKv();
      await expect(restore(sink, kv)).rejects.toMatchObject({ ...damaged, message: lost });
      await expect(verifyBackup(sink)).rejects.toMatchObject(damaged);
      sink.objects.set(name, bytes);
    }
    sink.objects.delete(sink.named(".full")[0]!);
    await using kv = await openKv();
    await expect(restore(sink, kv)).rejects.toMatchObject({
      code: "KW_BACKUP_MOMENT",
      message: /interrupted/,
    });
  });

  it("is found by a verification although the last state does not need it", async () => {
    const sink = new MemorySink();
    await using kv = await openKv(":memory:", { log: {} });
    await backup(kv, sink);
    for (const n of [1, 2]) {
      await kv.set(["a"], n);
      await backup(kv, sink, { incremental: true });
    }
    // The second full backup adds this commit to the first one.
    await kv.set(["a"], 3);
    await backup(kv, sink);
    await verifyBackup(sink);
    await using target = await openKv();
    expect(sink.named("log-")).toHaveLength(3);
    for (const lost of sink.named("log-")) {
      const bytes = sink.objects.get(lost)!;
      sink.objects.delete(lost);
      await expect(verifyBackup(sink)).rejects.toMatchObject(damaged);
      sink.objects.set(lost, bytes);
    }
    sink.objects.delete(sink.named("log-")[0]!);
    await restore(sink, target);
  });
});

describe("partial", () => {
  it("restores the commits before the first that is damaged", async () => {
    const sink = copyOfBackup();
    const second = sink.named("log-")[1]!;
    damages["a changed byte"]!(sink, second);
    await using kv = await openKv();
    const { damage, entries } = await restore(sink, kv, { partial: true });
    expect(damage.map(({ object }) => object)).toEqual([second]);
    expect(entries).toBe(301);
    expect((await kv.get(["last"])).value).toBe(1);
    expect((await kv.get(["row", 1])).value).toBe("changed");
    expect((await kv.get(["row", 2])).value).not.toBe("changed");
  });

  it("restores the sound chunks of the full backup, and changes of lost entries", async () => {
    const sink = copyOfBackup();
    const [chunk] = sink.named(".chunk");
    sink.objects.delete(chunk!);
    await using kv = await openKv();
    const { damage, entries } = await restore(sink, kv, { partial: true });
    expect(damage.length).toBe(1);
    expect(await keysOf(kv)).toBe(entries - 1);
    expect(entries).toBeGreaterThan(100);
    expect(entries).toBeLessThan(300);
    expect((await kv.get(["row", 2])).value).toBe("changed");
  });

  it("falls back to an older full backup if a manifest is damaged", async () => {
    const sink = copyOfBackup();
    await using kv = await openKv();
    await kv.set(["row", 0], "newer");
    await backup(kv, sink);
    damages["a changed byte"]!(sink, sink.named(".full")[1]!);
    await using target = await openKv();
    await expect(restore(sink, target)).rejects.toMatchObject(damaged);
    const { entries } = await restore(sink, target, { partial: true });
    expect(entries).toBe(301);
  });
});

describe("a later format", () => {
  it("is refused", async () => {
    const sink = copyOfBackup();
    const name = sink.named(".full")[0]!;
    const bytes = Buffer.from(sink.objects.get(name)!);
    bytes[16] = 2;
    const end = bytes.length - 32;
    createHash("sha256").update(bytes.subarray(0, end)).digest().copy(bytes, end);
    sink.objects.set(name, bytes);
    await using kv = await openKv();
    await expect(restore(sink, kv)).rejects.toMatchObject({
      code: "KW_BACKUP_FORMAT",
      message: /unknown format 2/,
    });
  });
});

describe("a backup that was interrupted", () => {
  it("is never restored, whenever it was, and is removed later", async () => {
    await using kv = await openKv(":memory:", { log: {} });
    for (let n = 0; n < 200; n++) await kv.set(["row", n], "x".repeat(50_000));
    const sink = new MemorySink();
    await backup(kv, sink);
    await kv.set(["row", 0], "new");
    const { size } = sink.objects;
    for (let puts = 0; puts < size; puts++) {
      sink.putsLeft = puts;
      await expect(backup(kv, sink)).rejects.toThrow("killed");
      await using target = await openKv();
      await restore(sink, target);
      expect((await target.get(["row", 0])).value).not.toBe("new");
    }
    sink.putsLeft = Number.POSITIVE_INFINITY;
    await backup(kv, sink, { keep: 1 });
    expect(sink.objects.size).toBe(size);
    expect((await verifyBackup(sink)).unfinished).toBe(0);
  });

  it("has no manifest if another program has removed it meanwhile", async () => {
    await using kv = await openKv();
    await kv.set(["a"], 1);
    const sink = new MemorySink();
    const put = sink.put.bind(sink);
    let isFirst = true;
    sink.put = async (name, bytes) => {
      if (name.endsWith(".full") && isFirst) {
        isFirst = false;
        await backup(kv, sink, { keep: 1 });
      }
      await put(name, bytes);
    };
    await expect(backup(kv, sink)).rejects.toMatchObject(damaged);
    expect((await verifyBackup(sink)).backups).toBe(1);
  });
});

describe("a restore", () => {
  it("needs an empty database", async () => {
    const sink = copyOfBackup();
    const refused = { code: "KW_BACKUP_DATABASE", message: /not empty/ };
    await using kv = await openKv();
    await kv.set(["a"], 1);
    await expect(restore(sink, kv)).rejects.toMatchObject(refused);
    await kv.delete(["a"]);
    await kv.enqueue(1, { delay: 60_000 });
    await expect(restore(sink, kv)).rejects.toMatchObject(refused);
  });

  it("that was interrupted leaves a database that only a restore opens", async () => {
    const sink = copyOfBackup();
    await withFolder(async (folder) => {
      const path = `${folder}/data`;
      const controller = new AbortController();
      const { signal } = controller;
      {
        await using kv = await openKv(path);
        const watch = kv.watchRange([{ prefix: ["row"] }]).getReader();
        const stopped = watch.read().then(() => controller.abort(new Error("stopped")));
        await expect(restore(sink, kv, { signal })).rejects.toThrow("stopped");
        await stopped;
        expect(await keysOf(kv)).toBeGreaterThan(0);
        await watch.cancel();
        const backedUp = backup(kv, new MemorySink());
        await expect(backedUp).rejects.toMatchObject({ code: "KW_BACKUP_DATABASE" });
      }
      const unfinished = { code: "KW_RESTORE_UNFINISHED" };
      await expect(openKv(path)).rejects.toMatchObject(unfinished);
      await expect(openKv(path, { readOnly: true })).rejects.toMatchObject(unfinished);
      const { entries } = await restore(sink, path);
      await using kv = await openKv(path);
      expect(await keysOf(kv)).toBe(entries - 1);
      expect((await kv.get(["__keywright", "restore"])).value).toBe(null);
    });
  });
});

describe("SortedItems", () => {
  it("sorts more items than fit into memory", async () => {
    const sorted = new SortedItems(20_000);
    const expected: string[] = [];
    for (let n = 0; n < 2000; n++) {
      const first = String((n * 7919) % 2000).padStart(4, "0");
      for (const second of ["b", "a"]) {
        expected.push(`${first}${second}`);
        sorted.add({ first, second, payload: Buffer.alloc(n % 300, n) });
      }
    }
    const found: string[] = [];
    for (const { first, second, payload } of sorted.sorted()) {
      found.push(first + second);
      const n = [...Array(2000).keys()].find((each) => (each * 7919) % 2000 === Number(first))!;
      expect(payload.length).toBe(n % 300);
    }
    expect(found).toEqual(expected.sort());
  });
});
