import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { detectChanges } from "../src/read/live/change-detector.js";
import type { Watched } from "../src/read/live/watched.js";

let kv: EmbeddedKv;
beforeEach(async () => {
  kv = await openKv();
});
afterEach(() => kv.close());

/** A shared database whose watch reports nothing for now. */
function lateWatch(): Kv {
  return new Proxy(kv, {
    get(target, property) {
      if (property === "isShared") return true;
      if (property === "watchRange") return () => new ReadableStream();
      const member: unknown = Reflect.get(target, property, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

describe("detectChanges in a shared database", () => {
  it("does not rely on a watch, which may report a commit after a read has seen it", async () => {
    const watched: Watched = { keys: [["users", 1]], marks: [["mark"]], ranges: [] };
    for (const [key, hasChanged] of [
      [["users", 1], true],
      [["mark"], true],
      [["users", 2], false],
    ] as const) {
      const changes = await detectChanges(lateWatch(), watched);
      await kv.set(key, 1);
      expect(await changes.hasChanged(async () => true)).toBe(hasChanged);
      changes.end();
    }
  });
});
