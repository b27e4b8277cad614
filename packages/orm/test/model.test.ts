import { describe, expect, it } from "vitest";
import * as z from "zod";
import { defineModel } from "../src/index.js";

const schema = z.object({
  id: z.string(),
  name: z.string(),
  nick: z.string().nullable(),
  born: z.date().optional(),
  home: z.object({ street: z.string() }),
  tags: z.array(z.string()).default([]),
});
const fail = (at: string) =>
  expect.objectContaining({ code: "KW_MODEL_INVALID", model: "people", at });

describe("defineModel", () => {
  it("keeps the schema as it is", () => {
    const model = defineModel({ name: "people", schema, primaryKey: "id" });
    expect(model.schema).toBe(schema);
    expect(model).toMatchObject({ name: "people", primaryKey: "id", indexes: {}, relations: {} });
  });

  it("refuses what contradicts the schema or itself", () => {
    const define = (part: object) => () =>
      defineModel({ name: "people", schema, primaryKey: "id", ...part } as never);
    expect(define({ primaryKey: "nope" })).toThrow(fail("primaryKey"));
    expect(define({ primaryKey: [] })).toThrow(fail("primaryKey"));
    expect(define({ primaryKey: ["id", "id"] })).toThrow(fail("primaryKey"));
    expect(define({ indexes: { byNope: { key: "nope" } } })).toThrow(fail("indexes.byNope.key"));
    expect(define({ indexes: { byNames: { key: ["name", "name"] } } })).toThrow(
      fail("indexes.byNames.key"),
    );
    const twins = { byName: { key: "name" }, byNick: { key: "nick", prefix: "people_by_name" } };
    expect(define({ indexes: twins })).toThrow(fail("indexes.byNick"));
    const key = ["name", "nick"];
    for (const normalize of [String, null, "lower", { other: String }, { name: "lower" }]) {
      const indexes = { by: { key, normalize } };
      expect(define({ indexes })).toThrow(fail("indexes.by.normalize"));
    }
    for (const normalize of [null, "lower", [], ["trim", "lower"], [1], { other: "trim" }]) {
      const indexes = { byName: { key: "name", normalize } };
      expect(define({ indexes })).toThrow(fail("indexes.byName.normalize"));
    }
    const numbers = z.object({ id: z.string(), size: z.number(), sizes: z.array(z.number()) });
    for (const index of [{ key: "size" }, { key: "sizes", each: true }]) {
      const indexes = { bySize: { ...index, normalize: "lowercase" } };
      expect(define({ schema: numbers, indexes })).toThrow(fail("indexes.bySize.normalize"));
    }
    const length = (row: { name: string }) => row.name.length;
    for (const normalize of [String, { by: String }]) {
      const indexes = { by: { key: length, normalize } };
      expect(define({ indexes })).toThrow(fail("indexes.by.normalize"));
    }
    expect(() => defineModel({ name: "__keywright", schema, primaryKey: "id" })).toThrow(
      expect.objectContaining({ code: "KW_MODEL_INVALID", at: "name" }),
    );
  });
});
