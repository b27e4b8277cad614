import type { KvKey } from "@keywright/core";
import { describe, expect, it } from "vitest";
import { TakenKeys } from "../src/write/many/taken-keys.js";
import { groupsAtOnce } from "../src/write/many/write-each.js";

describe("the keys that rows of a call have taken", () => {
  it("are those of the group and of all groups that may be in progress", () => {
    const taken = new TakenKeys();
    for (let group = 0; group < 5 * groupsAtOnce; group++) {
      taken.ofNextGroup();
      for (let before = Math.max(0, group - groupsAtOnce + 1); before < group; before++)
        expect(taken.add(["users", `id${before}`])).toBe(false);
      expect(taken.add(["users", `id${group}`])).toBe(true);
      expect(taken.add(["users", `id${group}`])).toBe(false);
    }
  });

  it("are forgotten after their group", () => {
    const taken = new TakenKeys();
    taken.ofNextGroup().add(["users", "a"]);
    for (let group = 0; group < 2 * groupsAtOnce; group++) taken.ofNextGroup();
    expect(taken.add(["users", "a"])).toBe(true);
  });

  it("differ in every part, and in the types of parts", () => {
    const taken = new TakenKeys().ofNextGroup();
    const keys: KvKey[] = [
      ["users", "1"],
      ["posts", "1"],
      ["users", 1],
      ["users", 1n],
      ["users", 0],
      ["users", -0],
      ["users", true],
      ["users", "true"],
      ["users", "s1:1"],
      ["users", "1", "2"],
      ["users", "1", 2],
      ["users", Uint8Array.of(1)],
      ["users", Uint8Array.of(1), "1"],
      [1, "users"],
      ["users"],
    ];
    for (const key of keys) expect(taken.add(key)).toBe(true);
    for (const key of keys) expect(taken.add(key)).toBe(false);
  });
});
