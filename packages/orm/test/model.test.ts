import { describe, expect, expectTypeOf, it } from "vitest";
import * as z from "zod";
import {
  type CreateInput,
  type Database,
  defineModel,
  type FindManyOptions,
  type KeyField,
  type Row,
  type UniqueWhere,
  type UpdateInput,
} from "../src/index.js";
import type { User } from "./user-model.js";

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
    const normalized = { by: { key: ["name", "nick"], normalize: String } };
    expect(define({ indexes: normalized })).toThrow(fail("indexes.by.normalize"));
    expect(() => defineModel({ name: "__keywright", schema, primaryKey: "id" })).toThrow(
      expect.objectContaining({ code: "KW_MODEL_INVALID", at: "name" }),
    );
  });
});

describe("types", () => {
  it("offer a definition only the fields that a key can hold", () => {
    const base = { name: "people", schema, primaryKey: "id" } as const;
    defineModel({ ...base, indexes: { byBorn: { key: "born" }, byNick: { key: "nick" } } });
    // The parameter of normalize is the field's type without what is absent.
    defineModel({
      ...base,
      indexes: {
        byNick: {
          key: "nick",
          normalize: (nick) => expectTypeOf(nick).toEqualTypeOf<string>() && nick,
        },
      },
    });
    const byHome = { byHome: { key: "home" } } as const;
    // @ts-expect-error an object cannot be part of a key
    defineModel({ ...base, indexes: byHome });
    const byTags = { byTags: { key: ["name", "tags"] } } as const;
    // @ts-expect-error an array neither
    defineModel({ ...base, indexes: byTags });
    const byNope = { byNope: { key: "nope" } } as const;
    // @ts-expect-error there is no such field
    const misnamed = () => defineModel({ ...base, indexes: byNope });
    expect(misnamed).toThrow();
  });

  it("take a loose object by the fields that it names", () => {
    const loose = defineModel({
      name: "loose",
      schema: z.looseObject({ id: z.string(), team: z.string().optional() }),
      primaryKey: "id",
      indexes: { byTeam: { key: "team" } },
    });
    expectTypeOf<KeyField<Row<typeof loose>>>().toEqualTypeOf<"id" | "team">();
  });

  it("are the schema's for rows and input", () => {
    type M = typeof User;
    expectTypeOf<Row<M>>().toEqualTypeOf<z.output<M["schema"]>>();
    expectTypeOf<{ name: string; email: string; favoriteColor: string }>().toExtend<
      CreateInput<M>
    >();
    expectTypeOf<{ name: string; email: string }>().not.toExtend<CreateInput<M>>();
    expectTypeOf<{ age?: number | undefined }>().toExtend<UpdateInput<M>>();
    expectTypeOf<{ id: string }>().not.toExtend<UpdateInput<M>>();
    const model = defineModel({ name: "people", schema, primaryKey: "id" });
    expectTypeOf<CreateInput<typeof model>>().toEqualTypeOf<z.input<typeof schema>>();
  });

  it("offer queries only what an index serves", () => {
    type M = typeof User;
    expectTypeOf<{ id: string }>().toExtend<UniqueWhere<M>>();
    expectTypeOf<{ email: string }>().toExtend<UniqueWhere<M>>();
    expectTypeOf<{ favoriteColor: string }>().not.toExtend<UniqueWhere<M>>();
    type Where = FindManyOptions<M>["where"];
    expectTypeOf<{ favoriteColor: string }>().toExtend<Where>();
    expectTypeOf<{ favoriteColor: { gte: string } }>().toExtend<Where>();
    expectTypeOf<{ favoriteColor: number }>().not.toExtend<Where>();
    expectTypeOf<{ name: string }>().not.toExtend<Where>();
    type OrderBy = NonNullable<FindManyOptions<M>["orderBy"]>;
    expectTypeOf<keyof OrderBy>().toEqualTypeOf<"id" | "email" | "favoriteColor">();
    type Users = Database<{ users: M }>["users"];
    type Found = Awaited<ReturnType<Users["findUnique"]>>;
    expectTypeOf<Found>().toEqualTypeOf<Row<M> | null>();
  });
});
