// What is compiled here is not run: nothing is there to be awaited.
/* oxlint-disable typescript/no-floating-promises */
import { describe, expectTypeOf, it } from "vitest";
import * as z from "zod";
import type { CheckedModels } from "../src/database/checked-models.js";
import {
  belongsTo,
  type CreateInput,
  type Database,
  defineModel,
  desc,
  type FindManyOptions,
  hasMany,
  type IndexedWhere,
  type KeyField,
  type LeadsNowhere,
  manyToMany,
  type NamesNoRow,
  type NoCondition,
  type NoIndexServes,
  type OrderBy,
  type ReadsWholeTable,
  type Row,
  type UniqueWhere,
  type UnknownField,
  type UpdateInput,
  type Versioned,
} from "../src/index.js";
import type { Served } from "../src/read/types/served-types.js";
import type { NamesRow } from "../src/read/types/where-types.js";
import type { Badge, Db, Game, Post, Tag, Team, User } from "./types-models.js";

/** Calls that are type-checked and not made. */
function compiles(_calls: (db: Db, yes: boolean) => unknown): void {}

type G = typeof Game;
type None = Record<never, never>;
type GameRow = Row<G>;
type UserRow = Row<typeof User>;

const undeclared =
  "declare an index whose key begins with the fields of where, followed by those of orderBy, or move conditions into filter";
const lacksRows =
  "the index with these fields does not contain every row; if you want only its rows, name it with the option index, otherwise declare an index of these fields alone";
const badValue =
  "give a value, { in: [...] }, or one range: gt or gte with lt or lte, between, startsWith; leave the field out if it may have any value";
const nothing =
  "rows that lack a field need an index of their own: byOpen: { key: 'createdAt', where: { closedAt: null } }, with the other fields of where and orderBy in its key";
const combined =
  "conditions hold all together: for one of several values take { in: [...] } or OR, for what no index serves filter";

describe("rows and input", () => {
  it("are the schema's", () => {
    expectTypeOf<UserRow>().toEqualTypeOf<z.output<(typeof User)["schema"]>>();
    expectTypeOf<CreateInput<G>>().toEqualTypeOf<z.input<G["schema"]>>();
  });

  it("let a ULID primary key be left out, and no other", () => {
    expectTypeOf<{ name: string }>().toExtend<CreateInput<typeof User>>();
    expectTypeOf<{ id: string; name: string }>().toExtend<CreateInput<typeof User>>();
    expectTypeOf<{ teamId: string }>().not.toExtend<CreateInput<typeof User>>();
    expectTypeOf<{ title: string }>().not.toExtend<CreateInput<typeof Team>>();
  });

  it("keep what transforms, coercion and defaults make of input apart from output", () => {
    const Event = defineModel({
      name: "events",
      schema: z.object({
        id: z.coerce.string(),
        at: z.string().transform((text) => new Date(text)),
        size: z.number().default(0),
      }),
      primaryKey: "id",
      indexes: { byTime: { key: "at" } },
    });
    type E = typeof Event;
    expectTypeOf<Row<E>>().toEqualTypeOf<{ id: string; at: Date; size: number }>();
    expectTypeOf<CreateInput<E>["at"]>().toEqualTypeOf<string>();
    expectTypeOf<{ id: string; at: string }>().toExtend<CreateInput<E>>();
    const check = (db: Database<{ events: E }>) => {
      db.events.findMany({ where: { at: { gte: new Date() } } });
      // @ts-expect-error queries have the values of rows
      db.events.findMany({ where: { at: "2027-01-01" } });
    };
    void check;
  });

  it("let updates change any field but the primary key's, by a value or by what the field's type allows", () => {
    type U = UpdateInput<G>;
    expectTypeOf<{ score: { increment: number } }>().toExtend<U>();
    expectTypeOf<{ round: { increment: bigint } }>().toExtend<U>();
    expectTypeOf<{ tags: { push: "x" } }>().toExtend<U>();
    expectTypeOf<{ rank: { unset: true } }>().toExtend<U>();
    expectTypeOf<{ team: { set: "x" } }>().toExtend<U>();
    expectTypeOf<{ team: { increment: 1 } }>().not.toExtend<U>();
    expectTypeOf<{ team: { unset: true } }>().not.toExtend<U>();
    expectTypeOf<{ score: { increment: bigint } }>().not.toExtend<U>();
    compiles((db) => {
      db.games.update({ where: { id: "x" }, data: { score: { increment: 1 }, note: "y" } });
      // @ts-expect-error a primary key stays
      db.games.update({ where: { id: "x" }, data: { id: "y" } });
      // @ts-expect-error there is no such field
      db.games.update({ where: { id: "x" }, data: { nope: 1 } });
      // @ts-expect-error there is no such field
      db.users.create({ data: { name: "Ada", nope: 1 } });
      // @ts-expect-error there is no such field
      db.users.createMany({ data: [{ name: "Ada", nope: 1 }] });
      // @ts-expect-error there is no such field
      db.users.upsert({ where: { id: "x" }, create: { name: "Ada", nope: 1 }, update: {} });
      // @ts-expect-error there is no such field
      db.users.upsert({ where: { id: "x" }, create: { name: "Ada" }, update: { nope: 1 } });
      // @ts-expect-error there is no such field
      db.users.updateMany({ filter: () => true, data: { nope: 1 } });
    });
  });
});

describe("a definition", () => {
  const base = {
    name: "people",
    schema: z.object({
      id: z.string(),
      nick: z.string().nullable(),
      born: z.date().optional(),
      home: z.object({ street: z.string() }),
      tags: z.array(z.string()),
    }),
    primaryKey: "id",
  } as const;
  const defining = (_define: () => unknown) => {};

  it("knows the types of the parameters of its functions", () => {
    defineModel({
      ...base,
      indexes: {
        byNick: {
          key: "nick",
          normalize: (nick) => expectTypeOf(nick).toEqualTypeOf<string>() && nick,
          where: (row) => expectTypeOf(row.home.street).toEqualTypeOf<string>(),
        },
        byTag: { key: "tags", each: true, normalize: (tag) => tag.toLowerCase() },
        byBirthAndNick: {
          key: [desc("born"), "nick"],
          unique: true,
          normalize: {
            born: (born) => expectTypeOf(born).toEqualTypeOf<Date>() && born.getFullYear(),
            nick: (nick) => expectTypeOf(nick).toEqualTypeOf<string>() && nick.toLowerCase(),
          },
        },
        byNickAndTag: {
          key: ["nick", "tags", (row) => row.home.street],
          each: true,
          normalize: { tags: (tag) => tag.toLowerCase() },
        },
        byTagTrimmed: { key: "tags", each: true, normalize: ["trim", "lowercase"] },
        byNickInNfc: { key: "nick", normalize: "nfc" },
        byNickAndTagTrimmed: {
          key: ["nick", "tags"],
          each: true,
          normalize: { tags: ["nfc", "uppercase"], nick: "trim" },
        },
        byBirth: { key: desc("born") },
        byStreet: { key: (row) => row.home.street },
        byStreetAndTag: { key: [(row) => row.home.street, "tags"], each: true },
        byWord: { key: (row) => row.home.street.split(" "), each: true, include: ["nick"] },
      },
    });
  });

  it("selects the rows of an index by values that its fields can have", () => {
    const { shape } = base.schema;
    const schema = z.object({ ...shape, state: z.enum(["open", "closed"]), done: z.boolean() });
    const partial = { ...base, schema };
    defineModel({
      ...partial,
      indexes: {
        byNick: { key: "nick", where: { born: null, done: false, state: "open" } },
        byBirth: { key: ["born", (row) => row.nick], where: { nick: null }, reads: ["nick"] },
      },
    });
    defining(() => {
      // @ts-expect-error no row has this value
      defineModel({ ...partial, indexes: { byNick: { key: "nick", where: { state: "new" } } } });
      // @ts-expect-error no row lacks the field
      defineModel({ ...partial, indexes: { byNick: { key: "nick", where: { done: null } } } });
      const where = { born: new Date() };
      // @ts-expect-error a date is compared by a function
      defineModel({ ...partial, indexes: { byNick: { key: "nick", where } } });
      // @ts-expect-error IndexCannotBe<"nope", "the schema has no field of this name">
      defineModel({ ...partial, indexes: { byId: { key: "id", where: { done: true, nope: 1 } } } });
      // @ts-expect-error the schema has no field of this name
      defineModel({ ...partial, indexes: { byId: { key: (row) => row.id, reads: ["nope"] } } });
    });
  });

  it("has only indexes that can be, and says at the wrong one what to do", () => {
    defining(() => {
      // @ts-expect-error an object cannot be in a key: IndexCannotBe<"home", "… compute one of the row …">
      defineModel({ ...base, indexes: { byNick: { key: "nick" }, byHome: { key: "home" } } });
      // @ts-expect-error IndexCannotBe<"tags", "an array is indexed by its elements; add each: true">
      defineModel({ ...base, indexes: { byTag: { key: "tags" } } });
      // @ts-expect-error the same, as a part
      defineModel({ ...base, indexes: { byTag: { key: ["nick", "tags"] } } });
      // @ts-expect-error IndexCannotBe<"nope", "the schema has no field of this name">
      defineModel({ ...base, indexes: { byNope: { key: "nope" } } });
      // @ts-expect-error the same, as a part
      defineModel({ ...base, indexes: { byNope: { key: ["nick", "nope"] } } });
      const unknown = { ...base, schema: z.object({ id: z.string(), any: z.any() }) };
      // @ts-expect-error nobody knows what it holds
      defineModel({ ...unknown, indexes: { byAny: { key: "any" } } });
      // @ts-expect-error the same, as a part
      defineModel({ ...unknown, indexes: { byAny: { key: ["id", "any"] } } });
      // @ts-expect-error an array has no order
      defineModel({ ...base, indexes: { byTag: { key: desc("tags") } } });
      // @ts-expect-error the function returns an object
      defineModel({ ...base, indexes: { byHome: { key: (row) => row.home } } });
      // @ts-expect-error the function returns an array
      defineModel({ ...base, indexes: { byTag: { key: (row) => row.tags } } });
      // @ts-expect-error no part of the key is an array
      defineModel({ ...base, indexes: { byNick: { key: "nick", each: true } } });
      const key = ["id", "nick"] as const;
      // @ts-expect-error several fields are normalized by a function for each
      defineModel({ ...base, indexes: { by: { key, normalize: String } } });
      // @ts-expect-error several fields are normalized by name
      defineModel({ ...base, indexes: { by: { key, normalize: "lowercase" } } });
      // @ts-expect-error several fields are normalized by name
      defineModel({ ...base, indexes: { by: { key, normalize: ["trim"] } } });
      // @ts-expect-error a date is not a string
      defineModel({ ...base, indexes: { byBorn: { key: "born", normalize: "trim" } } });
      // @ts-expect-error a date is not a string
      defineModel({ ...base, indexes: { by: { key: ["born"], normalize: { born: "trim" } } } });
      // @ts-expect-error there is no such normalizer
      defineModel({ ...base, indexes: { byNick: { key: "nick", normalize: "lower" } } });
      // @ts-expect-error IndexCannotBe<"born", "the key has no field of this name">
      defineModel({ ...base, indexes: { by: { key, normalize: { born: Number } } } });
      // @ts-expect-error the schema has no field of this name
      defineModel({ ...base, indexes: { by: { key, normalize: { nik: String } } } });
      // @ts-expect-error what normalize returns has to be what a key can hold
      defineModel({ ...base, indexes: { by: { key, normalize: { nick: () => [] } } } });
      // @ts-expect-error a function makes the only part
      defineModel({ ...base, indexes: { by: { key: (row) => row.id, normalize: String } } });
      // @ts-expect-error what normalize returns has to be what a key can hold
      defineModel({ ...base, indexes: { byNick: { key: "nick", normalize: (nick) => [nick] } } });
      // @ts-expect-error a misspelled option
      defineModel({ ...base, indexes: { byNick: { key: "nick", uniqe: true } } });
      // @ts-expect-error a field that is not there
      defineModel({ ...base, indexes: { byNick: { key: "nick", include: ["nope"] } } });
    });
  });

  it("has a primary key that no row lacks", () => {
    defineModel({ ...base, primaryKey: ["id"] });
    defining(() => {
      // @ts-expect-error it may be null
      defineModel({ ...base, primaryKey: "nick" });
      // @ts-expect-error it may be absent
      defineModel({ ...base, primaryKey: ["id", "born"] });
      // @ts-expect-error a key cannot hold it
      defineModel({ ...base, primaryKey: "home" });
      // @ts-expect-error it names no field
      defineModel({ ...base, primaryKey: [] });
    });
  });

  it("has the fields that a loose object names, and no others", () => {
    const Loose = defineModel({
      name: "loose",
      schema: z.looseObject({ id: z.string(), team: z.string().optional() }),
      primaryKey: "id",
      indexes: { byTeam: { key: "team" } },
    });
    type L = typeof Loose;
    expectTypeOf<KeyField<Row<L>>>().toEqualTypeOf<"id" | "team">();
    const check = async (db: Database<{ loose: L }>) => {
      const row = await db.loose.findUniqueOrThrow({ where: { id: "x" } });
      expectTypeOf(row.team).toEqualTypeOf<string | undefined>();
      expectTypeOf(row.whatever).toEqualTypeOf<unknown>();
      const picked = await db.loose.findFirstOrThrow({
        where: { team: "x" },
        select: { id: true },
      });
      expectTypeOf(picked).toEqualTypeOf<{ id: string }>();
      db.loose.create({ data: { id: "x", anything: 1 } });
      // @ts-expect-error no index has a field that is not declared
      db.loose.findMany({ where: { whatever: "x" } });
    };
    void check;
  });

  it("takes brands, enums, unions and bytes as they are", () => {
    const Odd = defineModel({
      name: "odd",
      schema: z.object({
        id: z.string().brand<"OddId">(),
        kind: z.union([z.literal("a"), z.literal(1)]),
        bytes: z.instanceof(Uint8Array),
      }),
      primaryKey: "id",
      indexes: { byKind: { key: ["kind", "bytes"] } },
    });
    type O = typeof Odd;
    const check = (db: Database<{ odd: O }>, id: Row<O>["id"]) => {
      db.odd.findUnique({ where: { id } });
      db.odd.findMany({ where: { kind: { in: ["a", 1] }, bytes: new Uint8Array() } });
      db.odd.findMany({ where: { id: { startsWith: "x" } } });
      // @ts-expect-error a plain string has not the brand
      db.odd.findUnique({ where: { id: "x" } });
      // @ts-expect-error not one of the values
      db.odd.findMany({ where: { kind: "b" } });
    };
    void check;
  });
});

describe("where", () => {
  it("takes values for the first fields of an index or of the primary key, then one range", () => {
    compiles((db) => {
      db.games.findMany({ where: { id: { startsWith: "g" } } });
      db.games.findMany({ where: { team: "red" } });
      db.games.findMany({ where: { team: "red", score: 1 } });
      db.games.findMany({ where: { team: "red", score: { gte: 1, lt: 5 } } });
      db.games.findMany({ where: { team: "red", score: { between: [1, 5] } } });
      db.games.findMany({ where: { team: { in: ["red", "blue"] }, score: { gt: 1 } } });
      db.games.findMany({ where: { team: "red", score: 1, id: { gt: "g" } } });
      db.games.findMany({ where: { level: "easy", playedAt: { lt: new Date() } } });
      db.postTags.findMany({ where: { postId: "p", tagId: { gt: "t" } } });
      db.postTags.findMany({ where: { tagId: "p", postId: { gt: "t" } } });
      // @ts-expect-error a value of another type
      db.games.findMany({ where: { team: 1 } });
      // @ts-expect-error bounds of another type
      db.games.findMany({ where: { team: "red", score: { gte: "1" } } });
      // @ts-expect-error a date is no number
      db.games.findMany({ where: { level: "easy", playedAt: 0 } });
      // @ts-expect-error only texts begin with one
      db.games.findMany({ where: { team: "red", score: { startsWith: "1" } } });
      // @ts-expect-error not one of the enum's values
      db.games.findMany({ where: { level: "middling" } });
    });
  });

  it("says of fields that no index begins with what to do", () => {
    type Refusal<F> = { readonly where: NoIndexServes<F, typeof undeclared> };
    expectTypeOf<Served<G, { note: "x" }, None, never>>().toEqualTypeOf<Refusal<"note">>();
    expectTypeOf<Served<G, { score: 1 }, None, never>>().toEqualTypeOf<Refusal<"score">>();
    // A range that is not on the last field.
    expectTypeOf<Served<G, { team: { gt: "x" }; score: 1 }, None, never>>().toEqualTypeOf<
      Refusal<"team" | "score">
    >();
    compiles((db) => {
      // @ts-expect-error as above
      db.games.findMany({ where: { note: "x" } });
      // @ts-expect-error as above, beside a field that an index has
      db.games.findMany({ where: { team: "red", note: "x" } });
    });
  });

  it("says that there is no such field before it says anything of indexes", () => {
    type Unknown = UnknownField<"nope", "the model has no such field">;
    expectTypeOf<Served<G, { nope: "x" }, None, never>>().toEqualTypeOf<{
      readonly where: { readonly nope: Unknown };
    }>();
    expectTypeOf<Served<G, { team: "x"; nope: "x" }, None, never>>().toEqualTypeOf<{
      readonly where: { readonly nope: Unknown };
    }>();
    expectTypeOf<Served<G, { team: "x" }, { nope: "asc" }, never>>().toEqualTypeOf<{
      readonly orderBy: { readonly nope: Unknown };
    }>();
    expectTypeOf<NamesRow<G, { nope: "x" }>>().toEqualTypeOf<{
      readonly where: { readonly nope: Unknown };
    }>();
    expectTypeOf<Served<G, { NOT: { team: "x" } }, None, never>>().toEqualTypeOf<{
      readonly where: { readonly NOT: UnknownField<"NOT", typeof combined> };
    }>();
    compiles((db) => {
      // @ts-expect-error there is no such field
      db.games.findMany({ where: { nope: "x" } });
      // @ts-expect-error nor is there a NOT
      db.games.findMany({ where: { NOT: { team: "red" } } });
      db.games.findMany({ where: { OR: [{ team: "red" }, { team: "blue" }, { id: "1" }] } });
      db.games.findMany({ where: { team: "red", OR: [{ score: 1 }, { score: { gt: 5 } }] } });
      // @ts-expect-error no index serves the second member
      db.games.findMany({ where: { OR: [{ team: "red" }, { note: "x" }] } });
      // @ts-expect-error one of its fields does not exist
      db.games.findMany({ where: { OR: [{ team: "red" }, { nope: "x" }] } });
      // @ts-expect-error there is no such field to sort by
      db.games.findMany({ where: { team: "red" }, orderBy: [{ nope: "asc" }] });
      // @ts-expect-error nor one that names a row
      db.games.findUnique({ where: { nope: "x" } });
    });
  });

  it("refuses what is no condition", () => {
    expectTypeOf<Served<G, { note: null }, None, never>>().toEqualTypeOf<{
      readonly where: NoIndexServes<"note", typeof nothing>;
    }>();
    expectTypeOf<Served<G, { team: None }, None, never>>().toEqualTypeOf<{
      readonly where: { readonly team: NoCondition<typeof badValue> };
    }>();
    compiles((db) => {
      // @ts-expect-error bounds without one
      db.games.findMany({ where: { team: {} } });
      // @ts-expect-error two lower bounds
      db.games.findMany({ where: { team: { gt: "a", gte: "b" } } });
      // @ts-expect-error a list and a bound
      db.games.findMany({ where: { team: { in: ["a"], gte: "b" } } });
      // @ts-expect-error undefined is no value
      db.games.findMany({ where: { team: undefined } });
      // @ts-expect-error no index has the rows without a nick
      db.games.findMany({ where: { team: "red", nick: null, rank: 1 } });
      // @ts-expect-error nor is a value that may be undefined
      db.games.findMany({ where: { team: "red" as string | undefined } });
    });
  });

  it("names an array by its elements, and a computed index by its own name", () => {
    compiles((db) => {
      db.games.findMany({ where: { tags: { has: "x" } } });
      db.games.findMany({ where: { tags: { has: { startsWith: "x" } } } });
      db.games.findMany({ where: { tags: { has: { in: ["x", "y"] } }, id: { gt: "g" } } });
      db.games.findMany({ where: { round: 1n, marks: { has: { gte: new Date() } } } });
      db.games.findMany({ where: { byInitial: "r" } });
      db.games.findMany({ orderBy: { byInitial: "desc" }, index: "byInitial" });
      // @ts-expect-error a game for which the function gives nothing is not in the index
      db.games.findMany({ orderBy: { byInitial: "desc" } });
      const base = { name: "x", schema: z.object({ id: z.string() }), primaryKey: "id" } as const;
      const X = defineModel({ ...base, indexes: { byLength: { key: ({ id }) => id.length } } });
      expectTypeOf<Served<typeof X, None, { byLength: "asc" }, never>>().toBeUnknown();
      db.games.findMany({ where: { byWords: { has: { startsWith: "w" } } } });
      // @ts-expect-error an array is asked for an element
      db.games.findMany({ where: { tags: ["x"] } });
      // @ts-expect-error an element of another type
      db.games.findMany({ where: { tags: { has: 1 } } });
      // @ts-expect-error another type than the function returns
      db.games.findMany({ where: { byInitial: 1 } });
      // @ts-expect-error rows would be found several times, or not at all
      db.games.findMany({ where: { round: 1n } });
      // @ts-expect-error as for `where`
      db.games.findMany({ orderBy: { tags: "asc" } });
    });
  });

  it("does not take an index that lacks rows of the query, unless it is named", () => {
    type Refusal<F> = { readonly where: NoIndexServes<F, typeof lacksRows> };
    expectTypeOf<Served<G, { team: "red"; nick: "x" }, None, never>>().toEqualTypeOf<
      Refusal<"team" | "nick">
    >();
    expectTypeOf<Served<G, { playedAt: Date }, None, never>>().toEqualTypeOf<Refusal<"playedAt">>();
    compiles((db) => {
      db.games.findMany({ where: { team: "red", nick: "x", rank: 1 } });
      db.games.findMany({ where: { team: "red", nick: "x", rank: { gt: 1 } } });
      db.games.findMany({ where: { team: "red", nick: "x" }, index: "byTeamAndRank" });
      db.games.findMany({ where: { rank: 1 } });
      db.games.findMany({ orderBy: { rank: "asc" }, index: "byRank" });
      db.games.findMany({ where: { playedAt: { lt: new Date() } }, index: "byOpen" });
      db.games.findMany({ index: "byOpen" });
      db.games.findMany({ index: "byTag" });
      // @ts-expect-error a row without a rank is not in the index
      db.games.findMany({ orderBy: { rank: "asc" } });
      // @ts-expect-error there is no such index
      db.games.findMany({ index: "byNope" });
      // @ts-expect-error this index does not begin with the field
      db.games.findMany({ where: { team: "red" }, index: "byOpen" });
    });
  });

  it("has to be there, or an order or an index: a whole table is scanned", () => {
    expectTypeOf<Served<G, None, None, never>>().toEqualTypeOf<{
      readonly where: ReadsWholeTable<"give where, orderBy or index; to read the whole table, call scan()">;
    }>();
    compiles((db) => {
      db.games.scan();
      db.games.scan({ filter: (game) => game.score > 1, orderBy: { id: "desc" }, take: 5 });
      db.games.count();
      db.games.exists();
      db.games.count({ filter: (game) => game.score > 1 });
      // @ts-expect-error ReadsWholeTable
      db.games.findMany({});
      // @ts-expect-error ReadsWholeTable
      db.games.findMany({ where: {} });
      // @ts-expect-error ReadsWholeTable
      db.games.findFirst({ filter: (game) => game.score > 1 });
      // @ts-expect-error ReadsWholeTable
      db.games.watchMany({ take: 3 });
      // @ts-expect-error a scan has the order of the primary key
      db.games.scan({ orderBy: { team: "asc" } });
      // @ts-expect-error and no conditions
      db.games.scan({ where: { team: "red" } });
      // @ts-expect-error what is counted is served too
      db.games.count({ where: { note: "x" } });
    });
  });

  it("is checked at run time where its type tells nothing", () => {
    compiles((db) => {
      const query: FindManyOptions<G> = { where: { team: "red" }, take: 3 };
      db.games.findMany(query);
      db.games.findMany({ where: { note: "x" } as never });
    });
  });

  it("takes a union of what indexes serve, and no other", () => {
    compiles((db, yes) => {
      db.games.findMany({ where: {} as { team: string } | { team: string; score: number } });
      db.games.findMany({ where: {} as { team: string | { gte: string } } });
      db.games.findUnique({ where: {} as UniqueWhere<G> });
      db.games.findMany({ where: yes ? { team: "red" } : { id: "x" } });
      db.games.findUnique({ where: yes ? { id: "x" } : { nick: "x" } });
      db.games.findMany({
        where: { team: "red" },
        index: yes ? "byTeamAndScore" : "byTeamAndRank",
      });
      // @ts-expect-error a member of it has fields that no index begins with
      db.games.findMany({ where: {} as { team: string } | { score: number } });
      // @ts-expect-error the same, beside a field that all members have
      db.games.findMany({ where: {} as { team: string } | { team: string; note: string } });
      // @ts-expect-error the same, as a condition
      db.games.findMany({ where: yes ? { team: "red" } : { note: "x" } });
      // @ts-expect-error a member of it names no row
      db.games.findUnique({ where: yes ? { id: "x" } : { team: "red" } });
      // @ts-expect-error one of the indexes does not begin with the field
      db.games.findMany({ where: { team: "red" }, index: yes ? "byTeamAndScore" : "byTag" });
    });
  });

  it("may have optional fields where an index serves it with them and without", () => {
    type Refusal<F> = { readonly where: NoIndexServes<F, typeof undeclared> };
    expectTypeOf<Served<G, { team?: "red"; score: 1 }, None, never>>().toEqualTypeOf<
      Refusal<"score">
    >();
    compiles((db, yes) => {
      const team = "red";
      db.games.findMany({ where: { team, ...(yes && { score: { gte: 1 } }) } });
      db.games.findMany({ where: { team, ...(yes ? { score: { gte: 1 } } : {}) } });
      db.games.count({ where: { ...(yes && { team }) } });
      db.games.deleteMany({ where: { ...(yes && { team }) }, filter: () => true });
      db.games.findMany({ where: {} as IndexedWhere<G> });
      // @ts-expect-error without it no index serves the rest
      db.games.findMany({ where: { ...(yes && { team }), score: 1 } });
      // @ts-expect-error with it none does
      db.games.findMany({ where: { team, ...(yes && { note: "x" }) } });
      // @ts-expect-error without it the query says nothing
      db.games.findMany({ where: { ...(yes && { team }) } });
      // @ts-expect-error without it all rows are meant
      db.games.deleteMany({ where: { ...(yes && { team }) } });
      // @ts-expect-error without it no row is named
      db.games.findUnique({ where: { ...(yes && { id: "x" }) } });
      // @ts-expect-error it is there, and may be undefined
      db.games.findMany({ where: {} as { team: string; score?: number | undefined } });
    });
  });

  it("has more optional fields than are judged only where it is left to the run time", () => {
    type Many = { [F in "id" | "score" | "round" | "level" | "nick"]?: GameRow[F] & {} };
    expectTypeOf<Served<G, { team: "red" } & Many, None, never>>().not.toBeUnknown();
    compiles((db) => {
      // @ts-expect-error 32 queries in one
      db.games.findMany({ where: {} as { team: "red" } & Many });
    });
  });
});

describe("options that are undefined", () => {
  it("are absent", () => {
    compiles((db, yes) => {
      const where = { team: "red" };
      const filter = yes ? (game: GameRow) => game.score > 1 : undefined;
      db.games.findMany({ where, filter, select: yes ? { id: true } : undefined });
      db.games.findMany({ where, orderBy: yes ? { score: "asc" } : undefined, index: undefined });
      db.games.findMany({ where: yes ? where : undefined, orderBy: { team: "asc" } });
      db.games.findMany({ where, include: undefined });
      db.games.scan({ filter, orderBy: undefined, select: undefined });
      db.games.count({ where: undefined, index: yes ? "byOpen" : undefined });
      db.games.deleteMany({ where, filter: undefined });
      const include = {
        posts: { where: undefined, orderBy: undefined, filter: undefined, take: undefined },
      };
      db.users.findUnique({ where: { id: "x" }, include });
      // @ts-expect-error ReadsWholeTable
      db.games.findMany({ where: undefined });
      // @ts-expect-error ReadsWholeTable
      db.games.findMany({ where: yes ? where : undefined });
      // @ts-expect-error ReadsWholeTable
      db.games.findMany({ index: yes ? "byOpen" : undefined });
      // @ts-expect-error no row is named
      db.games.findUnique({ where: undefined });
      // @ts-expect-error all rows are meant only where a filter says so
      db.games.deleteMany({ where: yes ? where : undefined });
      // @ts-expect-error the same
      db.games.deleteMany({ filter });
      // @ts-expect-error without an order of its own it is served, with this one not
      db.games.findMany({ where, orderBy: yes ? { note: "asc" } : undefined });
    });
  });
});

describe("orderBy", () => {
  it("takes the fields behind those with one value, in the index's directions or all reversed", () => {
    compiles((db) => {
      db.games.findMany({ orderBy: { team: "desc" } });
      db.games.findMany({ orderBy: [{ team: "asc" }, { score: "asc" }, { id: "asc" }] });
      db.games.findMany({ where: { team: "red" }, orderBy: { score: "desc" } });
      db.games.findMany({ where: { team: "red" }, orderBy: [{ team: "asc" }, { score: "desc" }] });
      db.games.findMany({ where: { team: "red", score: { gt: 1 } }, orderBy: { score: "desc" } });
      db.games.findMany({ where: { team: { in: ["a", "b"] } }, orderBy: { team: "desc" } });
      db.games.findMany({ orderBy: [{ level: "asc" }, { playedAt: "desc" }, { round: "asc" }] });
      db.games.findMany({ orderBy: [{ level: "desc" }, { playedAt: "asc" }] });
      db.games.findMany({ where: { level: "easy" }, orderBy: { playedAt: "asc" } });
      const direction = "asc" as "asc" | "desc";
      db.games.findMany({ where: { team: "red" }, orderBy: { score: direction } });
    });
  });

  it("takes a union of orders, or a list of any length of one field, where each is served", () => {
    compiles((db, yes) => {
      const where = { team: "red" };
      const slot = { team: "red", score: 1 };
      db.games.findMany({ where: slot, orderBy: yes ? { score: "asc" } : { id: "asc" } });
      db.games.findMany({ where: slot, orderBy: [yes ? { score: "asc" } : { id: "asc" }] });
      db.games.findMany({ where, orderBy: [] as { score: "asc" | "desc" }[] });
      db.games.findMany({ where, orderBy: [] as OrderBy<G>[] });
      // @ts-expect-error no index has one of them
      db.games.findMany({ where, orderBy: yes ? { score: "asc" } : { note: "asc" } });
      // @ts-expect-error the same, in a list
      db.games.findMany({ where, orderBy: [yes ? { score: "asc" } : { note: "asc" }] });
      // @ts-expect-error the same, as types that name different fields
      db.games.findMany({ where, orderBy: {} as { score: "asc" } | { note: "asc" } });
      // @ts-expect-error the same, in a list
      db.games.findMany({ where, orderBy: [{} as { score: "asc" } | { note: "asc" }] });
      // @ts-expect-error no index has it
      db.games.findMany({ where, orderBy: [] as { note: "asc" }[] });
      // @ts-expect-error behind others neither
      db.games.findMany({ where, orderBy: [{ score: "asc" }, ...([] as { note: "asc" }[])] });
      // @ts-expect-error which comes first is not known
      db.games.findMany({ where, orderBy: [] as ({ score: "asc" } | { id: "asc" })[] });
      // @ts-expect-error it may be empty, and says nothing then
      db.games.findMany({ orderBy: [] as { team: "asc" }[] });
    });
  });

  it("says of another order what to do", () => {
    expectTypeOf<Served<G, { team: "red" }, { note: "asc" }, never>>().toEqualTypeOf<{
      readonly orderBy: NoIndexServes<"team" | "note", typeof undeclared>;
    }>();
    compiles((db) => {
      // @ts-expect-error not next in the key
      db.games.findMany({ where: { team: "red" }, orderBy: { rank: "asc" } });
      // @ts-expect-error no index begins with it
      db.games.findMany({ orderBy: { score: "asc" } });
      // @ts-expect-error directions that the index does not have
      db.games.findMany({ orderBy: [{ team: "asc" }, { score: "desc" }] });
      // @ts-expect-error the same, of an index with a descending field
      db.games.findMany({ orderBy: [{ level: "asc" }, { playedAt: "asc" }] });
      // @ts-expect-error a list of values is a range here
      db.games.findMany({ where: { team: { in: ["a", "b"] } }, orderBy: { score: "asc" } });
      // @ts-expect-error several fields are a list, so that their order is plain
      db.games.findMany({ orderBy: { team: "asc", score: "asc" } });
      // @ts-expect-error no direction
      db.games.findMany({ orderBy: { team: "up" } });
      // @ts-expect-error there is no such field
      db.games.findMany({ orderBy: { nope: "asc" } });
    });
  });
});

describe("what names one row", () => {
  it("is the primary key or a unique index, whole and alone", () => {
    type Refusal<F> = {
      readonly where: NamesNoRow<
        F,
        "give a value for each field of the primary key or of one unique index; use findFirst() for other fields"
      >;
    };
    expectTypeOf<NamesRow<G, { team: "red" }>>().toEqualTypeOf<Refusal<"team">>();
    expectTypeOf<UniqueWhere<G>>().toEqualTypeOf<
      | { readonly id: string }
      | { readonly level: "easy" | "hard"; readonly round: bigint }
      | { readonly nick: string }
    >();
    compiles((db) => {
      const slot = { level: "easy", round: 1n } as const;
      db.games.findUnique({ where: { id: "x" } });
      db.games.findUnique({ where: { nick: "x" } });
      db.games.update({ where: slot, data: { score: 1 }, ifVersion: "x", expireIn: 1 });
      db.games.delete({ where: slot, ifVersion: "x" });
      db.games.watch({ where: slot });
      db.postTags.findUniqueOrThrow({ where: { postId: "p", tagId: "t" } });
      // @ts-expect-error this index is not unique
      db.games.findUnique({ where: { team: "red" } });
      // @ts-expect-error two keys at once
      db.games.findUnique({ where: { id: "x", nick: "x" } });
      // @ts-expect-error a part of a key
      db.games.delete({ where: { level: "easy" } });
      // @ts-expect-error a part of a primary key
      db.postTags.watch({ where: { postId: "p" } });
      // @ts-expect-error more than one value
      db.games.findUnique({ where: { id: { in: ["x"] } } });
      // @ts-expect-error no value
      db.games.findUnique({ where: { nick: null } });
      // @ts-expect-error there is no such field
      db.games.update({ where: { nope: "x" }, data: {} });
      // @ts-expect-error a where is needed
      db.games.findUnique({});
    });
  });
});

describe("results", () => {
  it("are whole rows, pages and streams of them", () => {
    compiles(async (db) => {
      expectTypeOf(
        await db.users.findUnique({ where: { id: "x" } }),
      ).toEqualTypeOf<UserRow | null>();
      expectTypeOf(
        await db.users.findUniqueOrThrow({ where: { id: "x" } }),
      ).toEqualTypeOf<UserRow>();
      expectTypeOf(
        await db.users.findFirst({ orderBy: { id: "asc" } }),
      ).toEqualTypeOf<UserRow | null>();
      const page = await db.users.findMany({ orderBy: { id: "asc" }, take: 3, cursor: null });
      expectTypeOf(page.items).toEqualTypeOf<UserRow[]>();
      expectTypeOf(page.cursor).toEqualTypeOf<string | null>();
      for await (const user of db.users.scan()) expectTypeOf(user).toEqualTypeOf<UserRow>();
      expectTypeOf(await db.users.count()).toEqualTypeOf<number>();
      expectTypeOf(await db.users.exists({ where: { id: "x" } })).toEqualTypeOf<boolean>();
      expectTypeOf(db.users.watch({ where: { id: "x" } })).toEqualTypeOf<
        ReadableStream<UserRow | null>
      >();
      expectTypeOf(db.users.watchMany({ where: { teamId: "x" } })).toEqualTypeOf<
        ReadableStream<UserRow[]>
      >();
    });
  });

  it("have the fields that are selected, as optional as they are", () => {
    compiles(async (db, yes) => {
      const where = { id: "x" };
      const user = await db.users.findUniqueOrThrow({ where, select: { id: true, teamId: true } });
      expectTypeOf(user).toEqualTypeOf<{ id: string; teamId?: string | undefined }>();
      const created = await db.users.create({ data: { name: "Ada" }, select: { id: true } });
      expectTypeOf(created).toEqualTypeOf<{ id: string }>();
      // @ts-expect-error there is no such field
      db.users.findUnique({ where, select: { nope: true } });
      // @ts-expect-error a field is selected or not mentioned
      db.users.findUnique({ where, select: { id: false } });
      // @ts-expect-error or maybe selected, which the result could not tell
      db.users.findUnique({ where, select: {} as { id: true; name?: true } });
      // @ts-expect-error the same
      db.users.findUnique({ where, select: { id: true, name: yes ? true : undefined } });
      const nested = await db.users.findUniqueOrThrow({
        where,
        select: { id: true },
        include: { posts: { select: {} as { id: true; title?: true } } },
      });
      expectTypeOf(nested).toEqualTypeOf<{ id: string; posts: { id: string }[] }>();
      // @ts-expect-error there is no such option
      db.users.findUnique({ where, selects: { id: true } });
    });
  });

  it("come with their versionstamps where asked", () => {
    compiles(async (db) => {
      const where = { id: "x" };
      const found = await db.users.findUnique({ where, withVersionstamp: true });
      expectTypeOf(found).toEqualTypeOf<Versioned<UserRow> | null>();
      const options = { where, select: { id: true }, withVersionstamp: true } as const;
      expectTypeOf(await db.users.update({ ...options, data: {} })).toEqualTypeOf<
        Versioned<{ id: string }>
      >();
      const upserted = await db.users.upsert({ ...options, create: { name: "" }, update: {} });
      expectTypeOf(upserted.versionstamp).toEqualTypeOf<string>();
      const page = await db.users.findMany({ where, withVersionstamp: false });
      expectTypeOf(page.items).toEqualTypeOf<UserRow[]>();
    });
  });

  it("of writes of many rows tell of each, and with `atomic` that none failed", () => {
    compiles(async (db) => {
      const { count, results } = await db.users.createMany({ data: [{ name: "Ada" }] });
      expectTypeOf(count).toEqualTypeOf<number>();
      const [first] = results;
      if (first?.ok) expectTypeOf(first.row).toEqualTypeOf<UserRow>();
      else expectTypeOf(first?.error).toEqualTypeOf<unknown>();
      // @ts-expect-error it may have failed
      results[0]?.row;
      const all = await db.users.updateMany({
        where: { teamId: "x" },
        data: { name: "" },
        atomic: true,
      });
      expectTypeOf(all.results[0]?.row).toEqualTypeOf<UserRow | undefined>();
      db.users.deleteMany({ filter: () => true, take: 3 });
      db.users.deleteMany({ where: { teamId: { in: ["x"] } }, orderBy: { teamId: "asc" } });
      db.games.updateMany({ index: "byOpen", data: { score: { increment: 1 } } });
      // @ts-expect-error all rows are meant only where a filter says so
      db.users.deleteMany({});
      // @ts-expect-error an order alone says nothing either
      db.users.updateMany({ orderBy: { id: "asc" }, data: {} });
      // @ts-expect-error no index serves it
      db.users.updateMany({ where: { name: "x" }, data: {} });
      // @ts-expect-error many rows have no version in common
      db.users.updateMany({ where: { teamId: "x" }, data: {}, ifVersion: "x" });
    });
  });

  it("are filtered by whole rows, whatever is selected", () => {
    compiles((db) => {
      db.games.findMany({
        where: { team: "red" },
        select: { id: true },
        filter: (game) => expectTypeOf(game).toEqualTypeOf<GameRow>(),
      });
    });
  });
});

describe("include", () => {
  type TeamRow = Row<typeof Team>;
  type PostRow = Row<typeof Post>;

  it("adds rows of other models, found by their names", () => {
    compiles(async (db) => {
      const user = await db.users.findUniqueOrThrow({
        where: { id: "x" },
        include: { team: true, badge: true, posts: true },
      });
      // A user may have no team.
      expectTypeOf(user.team).toEqualTypeOf<TeamRow | null>();
      expectTypeOf(user.badge).toEqualTypeOf<Row<typeof Badge> | null>();
      expectTypeOf(user.posts).toEqualTypeOf<PostRow[]>();
      expectTypeOf(user.name).toEqualTypeOf<string>();
      const post = await db.posts.findFirstOrThrow({
        where: { authorId: "x" },
        include: { author: true, tags: true },
      });
      // A post has an author.
      expectTypeOf(post.author).toEqualTypeOf<UserRow>();
      expectTypeOf(post.tags).toEqualTypeOf<Row<typeof Tag>[]>();
    });
  });

  it("takes queries of their own, nested", () => {
    compiles(async (db) => {
      const user = await db.users.findUniqueOrThrow({
        where: { id: "x" },
        select: { name: true },
        include: {
          posts: {
            where: { at: { gte: new Date() } },
            orderBy: { at: "desc" },
            filter: (post) => expectTypeOf(post).toEqualTypeOf<PostRow>(),
            take: 3,
            select: { title: true },
            include: { author: { include: { team: { select: { title: true } } } } },
          },
        },
      });
      interface AuthorWithTeam extends UserRow {
        team: { title: string } | null;
      }
      expectTypeOf(user).toEqualTypeOf<{
        name: string;
        posts: { title: string; author: AuthorWithTeam }[];
      }>();
    });
  });

  it("leaves out relations that are false, and makes those optional that may be", () => {
    compiles(async (db, yes) => {
      const where = { id: "x" };
      const user = await db.users.findUniqueOrThrow({
        where,
        select: { name: true },
        include: { posts: false, badge: undefined, team: yes },
      });
      expectTypeOf(user).toEqualTypeOf<{ name: string; team?: TeamRow | null }>();
      const some = await db.users.findUniqueOrThrow({
        where,
        select: { name: true },
        include: {
          badge: true,
          posts: yes ? { select: { id: true } } : false,
          ...(yes && { team: true }),
        },
      });
      expectTypeOf(some).toEqualTypeOf<{
        name: string;
        badge: Row<typeof Badge> | null;
        posts?: { id: string }[];
        team?: TeamRow | null;
      }>();
      const none = await db.users.findUniqueOrThrow({ where, include: undefined });
      expectTypeOf(none).toEqualTypeOf<UserRow>();
      const deep = { posts: { select: undefined, include: { author: false } } } as const;
      const nested = await db.users.findUniqueOrThrow({ where, include: deep });
      expectTypeOf(nested.posts).toEqualTypeOf<PostRow[]>();
      const either = await db.users.findUniqueOrThrow({
        where,
        include: { posts: yes ? true : { select: { id: true } } },
      });
      expectTypeOf(either.posts).toEqualTypeOf<(PostRow | { id: string })[]>();
      // @ts-expect-error where it is loaded, no index has the condition
      db.users.findUnique({ where, include: { posts: yes ? { where: { title: "x" } } : false } });
    });
  });

  it("refuses relations, fields and queries that are not there", () => {
    compiles((db) => {
      const where = { id: "x" };
      // @ts-expect-error UnknownRelation<"nope", "name one of the model's relations">
      db.users.findUnique({ where, include: { team: true, nope: true } });
      // @ts-expect-error a model without relations
      db.teams.findUnique({ where, include: { nope: true } });
      // @ts-expect-error nor is one that is not loaded there
      db.users.findUnique({ where, include: { nope: false } });
      // @ts-expect-error one row has no order
      db.users.findUnique({ where, include: { team: { take: 1 } } });
      // @ts-expect-error an unknown field
      db.users.findUnique({ where, include: { posts: { select: { title: true, nope: true } } } });
      // @ts-expect-error no index has this order behind the relation's field
      db.users.findUnique({ where, include: { posts: { orderBy: { title: "asc" } } } });
      // @ts-expect-error nor this condition
      db.users.findUnique({ where, include: { posts: { where: { title: "x" } } } });
      // @ts-expect-error the relation itself says what it is
      db.users.findUnique({ where, include: { posts: { where: { authorId: "x" } } } });
      // @ts-expect-error the same, deeper
      db.users.findUnique({ where, include: { posts: { include: { nope: true } } } });
      // @ts-expect-error a relation through a third model has the order of that
      db.posts.findUnique({ where, include: { tags: { orderBy: { id: "asc" } } } });
    });
  });
});

describe("the models of a database", () => {
  const schema = z.object({ id: z.string(), otherId: z.string() });
  const model = <const R>(relations: R) =>
    ({ name: "ones", schema, primaryKey: "id", relations }) as const;
  const Other = defineModel({ name: "others", schema, primaryKey: ["id", "otherId"] });

  it("have relations that lead to each other", () => {
    const Good = defineModel({
      ...model({ other: belongsTo("others", ["id", "otherId"]) }),
      indexes: {},
    });
    const models = { one: Good, others: Other };
    expectTypeOf(models).toExtend<CheckedModels<typeof models>>();
  });

  it("are refused where one leads nowhere, which is said at the relation", () => {
    const lost = belongsTo("nobody", "otherId");
    const Lost = defineModel({ ...model({ lost }) });
    type LostModels = { one: typeof Lost; others: typeof Other };
    expectTypeOf<CheckedModels<LostModels>["one"]>().toEqualTypeOf<{
      readonly relations: {
        readonly lost: LeadsNowhere<
          "nobody",
          "no model in models has this name; add the model, or use the name of another one"
        >;
      };
    }>();
    const Short = defineModel({ ...model({ other: belongsTo("others", "otherId") }) });
    expectTypeOf<
      CheckedModels<{ one: typeof Short; others: typeof Other }>["one"]
    >().toEqualTypeOf<{
      readonly relations: {
        readonly other: LeadsNowhere<
          "otherId",
          "name one field for each field of the primary key that they hold, in its order"
        >;
      };
    }>();
    // A field that only a catchall allows is no field.
    const Open = defineModel({ ...model({}), schema: schema.catchall(z.string()) });
    const relations = { many: hasMany("ones", "nope") };
    const Far = defineModel({ name: "far", schema, primaryKey: "id", relations });
    expectTypeOf<CheckedModels<{ one: typeof Open; far: typeof Far }>["far"]>().toEqualTypeOf<{
      readonly relations: {
        readonly many: LeadsNowhere<
          "nope",
          "the model that refers to the other has no such field; add it to its schema, or name another one"
        >;
      };
    }>();
    const through = { through: "others", from: "nope", to: ["id", "otherId"] } as const;
    const Through = defineModel({ ...model({ many: manyToMany("others", through) }) });
    const models = { one: Through, others: Other };
    expectTypeOf(models).not.toExtend<CheckedModels<typeof models>>();
    expectTypeOf<CheckedModels<typeof models>["one"]>().toEqualTypeOf<{
      readonly relations: {
        readonly many: LeadsNowhere<
          "nope",
          "the model that refers to the other has no such field; add it to its schema, or name another one"
        >;
      };
    }>();
  });
});
