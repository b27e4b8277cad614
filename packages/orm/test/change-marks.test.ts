import { encodeKey, type KvKey } from "@keywright/core";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import * as z from "zod";
import { compileModel } from "../src/codegen.js";
import { changeMarkKeys, changeMarkOfRead } from "../src/derived/changes/change-marks.js";
import { defineModel, desc } from "../src/index.js";
import { indexEntries } from "../src/model/keys/index-entries.js";

const Task = defineModel({
  name: "tasks",
  schema: z.object({
    id: z.string(),
    list: z.string(),
    rank: z.number(),
    tags: z.array(z.string()),
  }),
  primaryKey: "id",
  indexes: {
    byList: { key: ["list", "rank"] },
    byRank: { key: desc("rank") },
    byTag: { key: "tags", each: true },
  },
  live: true,
});

const model = compileModel(Task);
const [byList, byRank, byTag] = model.indexes;
const text = (key: KvKey) => Buffer.from(encodeKey(key)).toString("hex");

const task = fc.record({
  id: fc.string(),
  list: fc.string(),
  rank: fc.double({ noNaN: true }),
  tags: fc.array(fc.string(), { maxLength: 5 }),
});

function marksOf(row: { id: string }): string[] {
  return changeMarkKeys(model, indexEntries(model, model.indexes, row, [row.id])).map(text);
}

describe("the marks of a change", () => {
  it("are that of the model, and one for each index in which the row is", () => {
    const row = { id: "1", list: "home", rank: 1, tags: ["a"] };
    const keys = changeMarkKeys(model, indexEntries(model, model.indexes, row, ["1"]));
    expect(keys.map((key) => key.slice(0, 4))).toEqual([
      ["__keywright", "changes", "tasks"],
      ["__keywright", "changes", "tasks", "byList"],
      ["__keywright", "changes", "tasks", "byRank"],
      ["__keywright", "changes", "tasks", "byTag"],
    ]);
  });

  it("are those of the reads that the row is in, and each is there once", () => {
    fc.assert(
      fc.property(task, (row) => {
        const marks = marksOf(row);
        expect(new Set(marks).size).toBe(marks.length);
        expect(marks).toContain(text(changeMarkOfRead(model, undefined, [])));
        for (const { index, key } of indexEntries(model, model.indexes, row, [row.id])) {
          for (let named = 0; named <= index.fields.length; named++) {
            const equals = key.slice(1, 1 + named);
            expect(marks).toContain(text(changeMarkOfRead(model, index, equals)));
          }
        }
      }),
    );
  });

  it("are 64 for an index at the most, whatever values its rows have, and use them evenly", () => {
    const tags = Array.from({ length: 1000 }, (_, i) => `tag ${i}`);
    const row = { id: "1", list: "home", rank: 1, tags };
    const keys = changeMarkKeys(model, indexEntries(model, [byTag!], row, ["1"]));
    expect(keys).toHaveLength(1 + 64);
    const perBucket = new Map<string, number>();
    for (let rank = 0; rank < 6400; rank++) {
      const mark = text(changeMarkOfRead(model, byList, [rank]));
      perBucket.set(mark, (perBucket.get(mark) ?? 0) + 1);
    }
    expect(perBucket.size).toBe(64);
    expect(Math.max(...perBucket.values())).toBeLessThan(200);
  });

  it("stay where they are: programs of different versions share them", () => {
    const mark = (part: KvKey[number]) => changeMarkOfRead(model, byList, [part])[4];
    const parts = ["", "green", "home", 0, -1.5, 7n, true, new Uint8Array([1])];
    expect(parts.map(mark)).toEqual([36, 13, 22, 48, 26, 4, 10, 25]);
    expect(changeMarkOfRead(model, byRank, [])).toEqual(["__keywright", "changes", "tasks"]);
  });
});
