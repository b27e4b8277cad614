import { openKv } from "@keywright/core";
import { backup, folderSink, restore } from "@keywright/core/backup";
import { expect, it } from "vitest";
import { lmdbEngine } from "../src/index.js";
import { temporaryFile } from "./temporary-file.js";

it("a backup of LMDB is restored into LevelDB, and that of LevelDB into LMDB", async () => {
  const { path, remove } = await temporaryFile();
  try {
    const sink = folderSink(`${path}-backups`);
    const moments: string[] = [];
    {
      await using kv = await openKv(await lmdbEngine({ path }), { log: {} });
      await kv.set(["a"], 1);
      await backup(kv, sink);
      for (const n of [2, 3]) moments.push((await kv.set(["a"], n)).versionstamp);
      await kv.enqueue("hello", { delay: 60_000 });
      await backup(kv, sink, { incremental: true });
    }
    await restore(sink, `${path}-level`, { at: moments[0] });
    await restore(sink, await lmdbEngine({ path: `${path}-new` }));
    await using level = await openKv(`${path}-level`);
    expect((await level.get(["a"])).value).toBe(2);
    const other = folderSink(`${path}-others`);
    expect(await backup(level, other)).toMatchObject({ entries: 1, messages: 0 });
    await using lmdb = await openKv(await lmdbEngine({ path: `${path}-new` }));
    expect((await lmdb.get(["a"])).value).toBe(3);
    expect(await backup(lmdb, other)).toMatchObject({ entries: 2, messages: 1 });
  } finally {
    await remove();
  }
});
