import { openKv } from "@keywright/core";
import { expect, it } from "vitest";
import { lmdbEngine } from "../src/index.js";
import { temporaryFile } from "./temporary-file.js";

it("views that are opened between two commits share a place for readers, and leave some to others", async () => {
  const { path, remove } = await temporaryFile();
  const kv = await openKv(await lmdbEngine({ path, maxReaders: 20 }));
  try {
    const views = [];
    for (let state = 0; state < 4; state++) {
      await kv.set(["state"], state);
      for (let n = 0; n < 50; n++) views.push(await kv.openView());
    }
    await kv.set(["state"], 4);
    const refusal = expect.objectContaining({ code: "KW_READ_VIEW_ENDED" });
    expect(() => kv.openView()).toThrow(refusal);
    expect((await kv.get(["state"])).value).toBe(4);
    const seen = await Promise.all(views.map((view) => view!.get(["state"])));
    expect(seen.map(({ value }) => value)).toEqual(views.map((_, i) => Math.floor(i / 50)));
    for (const view of views.slice(0, 50)) view!.close();
    const next = await kv.openView();
    expect((await next!.get(["state"])).value).toBe(4);
    next!.close();
  } finally {
    await kv.close();
    await remove();
  }
});
