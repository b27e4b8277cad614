import { openKv } from "@keywright/core";
import { describe, expect, it } from "vitest";
import {
  allowedOptions,
  generatedOptions,
  type RepositoryMethod,
} from "../src/database/call-options.js";
import { Calls } from "../src/database/calls.js";
import { GeneratedRows } from "../src/database/generated/generated-rows.js";
import type { Rows } from "../src/database/generated/rows.js";
import type {
  AggregateOptions,
  GroupByOptions,
} from "../src/database/repository/aggregate-types.js";
import type {
  ChangesOptions,
  HistoryOptions,
  RestoreRowOptions,
} from "../src/database/repository/history-types.js";
import type {
  CountRowsOptions,
  CreateManyOptions,
  CreateOptions,
  DeleteManyOptions,
  DeleteOptions,
  DistinctOptions,
  FindFirstOptions,
  FindManyOptions,
  FindUniqueOptions,
  ScanOptions,
  UpdateManyOptions,
  UpdateOptions,
  UpsertOptions,
  WatchManyOptions,
} from "../src/database/repository/options/query-options.js";
import type { RankOptions } from "../src/database/repository/options/rank-types.js";
import type { DeletedOption } from "../src/database/repository/options/soft-delete-types.js";
import type { Repository } from "../src/database/repository/repository.js";
import { RowOperations } from "../src/database/repository/row-operations.js";
import type { SearchOptions } from "../src/database/repository/search-types.js";
import { createDatabase, defineModel } from "../src/index.js";
import { rejection, User, users, withUsers } from "./user-model.js";

/** The methods as a program without types calls them. */
type Untyped = Record<string, (argument?: unknown) => Promise<unknown>>;

describe("a call without types", () => {
  it.each([
    ["findFirst", { where: { favoriteColor: "green" }, skip: 1 }, "skip"],
    ["findMany", { where: { favoriteColor: "green" }, limit: 1 }, "limit"],
    ["count", { take: 1 }, "take"],
    ["deleteMany", { where: { favoriteColor: "green" }, fliter: () => false }, "fliter"],
    ["update", { where: { id: "1" }, data: {}, ifversion: "" }, "ifversion"],
    ["findUnique", { where: { id: "1" }, select: ["id"] }, "select"],
    ["findUnique", { where: { id: "1" }, select: { nope: true } }, "select.nope"],
    ["create", { data: users.bob, include: { nope: true } }, "include.nope"],
    ["findUnique", undefined, "argument"],
    ["findUnique", null, "argument"],
    ["findUnique", {}, "where"],
    ["findUnique", { where: new Map([["id", "1"]]) }, "where"],
    ["updateMany", { where: { favoriteColor: "green" }, data: {}, cursor: "x" }, "cursor"],
    ["update", { where: { id: "1" }, data: {}, maxReads: 1 }, "maxReads"],
    ["findMany", { where: { favoriteColor: "green" }, order: "desc" }, "order"],
    ["findUnique", { where: { email: "a" }, index: "byEmail" }, "index"],
    ["upsert", { where: { email: "a" }, index: "byEmail", create: {}, update: {} }, "index"],
    ["findMany", undefined, "argument"],
    ["create", {}, "data"],
    ["createMany", { data: {} }, "data"],
    ["createMany", { data: [users.bob], skipDuplicates: "yes" }, "skipDuplicates"],
  ])("of %s with %j is refused", (method, argument, name) =>
    withUsers(async (db) => {
      await db.users.create({ data: users.ada });
      const call = (db.users as unknown as Untyped)[method]?.bind(db.users);
      const error = await rejection(Promise.resolve().then(() => call?.(argument)));
      if (name === "data" && method === "create") {
        expect(error).toMatchObject({ code: "KW_ROW_INVALID", operation: method });
      } else {
        expect(error).toMatchObject({ code: "KW_ARGUMENT_INVALID", argument: name });
        expect(error.operation).toBe(method);
      }
      expect(await db.users.count()).toBe(1);
    }),
  );

  it.each([
    ["findMany", { where: { id: "1" }, limit: 1 }, "use take"],
    [
      "findMany",
      { where: { id: "1" }, Offset: 1 },
      "use the cursor of the page before, or skip if the index is ranked",
    ],
    ["findFirst", { where: { id: "1" }, offset: 1 }, "the options are"],
    ["findMany", { where: { id: "1" }, sort: { id: 1 } }, "use orderBy"],
    ["scan", { page_size: 5 }, "use take"],
    ["scan", { after: "x" }, "use cursor"],
    ["findUnique", { id: "1" }, "use where"],
    ["findUnique", { where: { id: "1" }, populate: ["posts"] }, "use include"],
    ["update", { where: { id: "1" }, set: { name: "A" } }, "use data"],
    ["create", { data: users.bob, ttl: 5 }, "use expireIn"],
    ["groupBy", { group: ["name"], count: true }, "use by"],
    ["count", { wher: {} }, 'did you mean "where"?'],
    [
      "findMany",
      undefined,
      "it has no where, orderBy or index; add one, or read every row with scan()",
    ],
    ["findFirst", undefined, "read every row with scan()"],
  ])("of %s with %j says which option it is here", (method, argument, advice) =>
    withUsers(async (db) => {
      const call = (db.users as unknown as Untyped)[method]?.bind(db.users);
      const error = await rejection(Promise.resolve().then(() => call?.(argument)));
      expect(error).toMatchObject({ code: "KW_ARGUMENT_INVALID" });
      expect(error.message).toContain(advice);
    }),
  );

  it("of createDatabase is refused too", async () => {
    await using kv = await openKv();
    const options = { kv, models: { users: User }, onquery: () => undefined };
    const error = await rejection(createDatabase(options));
    expect(error).toMatchObject({ code: "KW_ARGUMENT_INVALID", argument: "onquery" });
    expect(error.message).toContain('did you mean "onQuery"?');
  });

  it("that iterates or watches names its mistake too", () =>
    withUsers(async (db) => {
      const untyped = db.users as unknown as Record<string, (argument?: unknown) => never>;
      const iterate = async () => {
        const rows = untyped.findMany?.() as unknown as AsyncIterable<unknown> | undefined;
        for await (const _ of rows ?? []);
      };
      const refusal = { code: "KW_ARGUMENT_INVALID", argument: "argument" };
      expect(await rejection(iterate())).toMatchObject(refusal);
      expect(() => untyped.watch?.()).toThrow(expect.objectContaining(refusal));
      expect(() => untyped.watchMany?.()).toThrow(expect.objectContaining(refusal));
      const many = { where: { id: "1" }, filter: () => false };
      expect(() => untyped.watch?.(many)).toThrow(
        expect.objectContaining({ ...refusal, argument: "filter" }),
      );
    }));

  it.each([
    ["null", null],
    ["a list", []],
    ["a map", new Map([["favoriteColor", "red"]])],
    ["a thing of a class", new (class Where {})()],
    ["an unknown field", { nope: 1 }],
  ])("with %s for a condition is no call for all rows", (_, where) =>
    withUsers(async (db) => {
      await db.users.create({ data: users.ada });
      for (const method of ["count", "exists", "findMany", "explain", "watchMany"]) {
        const call = (db.users as unknown as Untyped)[method]?.bind(db.users);
        const error = await rejection(Promise.resolve().then(() => call?.({ where })));
        expect(error).toMatchObject({ code: "KW_QUERY_INVALID" });
      }
    }),
  );

  it("with an unknown order is refused, also where only the number of rows is asked for", () =>
    withUsers(async (db) => {
      for (const method of ["count", "exists"]) {
        const call = (db.users as unknown as Untyped)[method]?.bind(db.users);
        const error = await rejection(
          Promise.resolve().then(() => call?.({ orderBy: { nope: 1 } })),
        );
        expect(error).toMatchObject({ code: "KW_QUERY_INVALID", field: "nope" });
      }
    }));
});

describe("the options of the types", () => {
  type M = typeof User;
  type Models = { users: M };
  type Shape = "select" | "include" | "withVersionstamp";
  type Expected<T> = Record<keyof T, true>;
  const shape = { select: true, include: true, withVersionstamp: true } as const satisfies Record<
    Shape,
    true
  >;
  const rows = { where: true, orderBy: true, index: true, filter: true, maxReads: true } as const;
  const signal = { signal: true } as const;
  const unique = { where: true, maxReads: true, ...signal, ...shape } satisfies Expected<
    FindUniqueOptions<M, Models>
  >;
  const first = { ...rows, ...signal, cursor: true, ...shape } satisfies Expected<
    FindFirstOptions<M, Models>
  >;
  const watched = { ...first, take: true } satisfies Expected<WatchManyOptions<M, Models>>;
  const list = { ...watched, skip: true } satisfies Expected<FindManyOptions<M, Models>>;
  const count = { ...rows, ...signal } satisfies Expected<CountRowsOptions<M, Models>>;
  const deletedRows = { ...rows, take: true, atomic: true, ...shape } satisfies Expected<
    DeleteManyOptions<M, Models>
  >;
  const deleted = { where: true, ifVersion: true, ...shape } satisfies Expected<
    DeleteOptions<M, Models>
  >;
  const created = { data: true, expireIn: true, ...shape } satisfies Expected<
    CreateOptions<M, Models>
  >;
  const aggregated = {
    where: true,
    index: true,
    maxReads: true,
    count: true,
    sum: true,
    avg: true,
    min: true,
    max: true,
    ...signal,
  } satisfies Expected<AggregateOptions<M>>;
  const withDeleted = { withDeleted: true } satisfies Expected<DeletedOption<M>>;
  const searched = {
    query: true,
    where: true,
    index: true,
    typos: true,
    filter: true,
    take: true,
    cursor: true,
    maxReads: true,
    ...signal,
    ...shape,
  } satisfies Expected<SearchOptions<M, Models>>;
  const byMethod: Record<RepositoryMethod, Readonly<Record<string, true>>> = {
    findUnique: { ...unique, ...withDeleted },
    findUniqueOrThrow: { ...unique, ...withDeleted },
    watch: unique,
    findFirst: first,
    findFirstOrThrow: first,
    findMany: { ...list, ...withDeleted },
    explain: list,
    watchMany: watched,
    restore: { ...deleted, cascade: true },
    purge: { where: true, before: true },
    changes: {
      ...{ after: true, where: true, filter: true, live: true, signal: true },
    } satisfies Expected<ChangesOptions<M>>,
    history: {
      ...{ where: true, take: true, cursor: true, maxScan: true, maxReads: true, signal: true },
    } satisfies Expected<HistoryOptions<M>>,
    restoreRow: { where: true, versionstamp: true, ifVersion: true } satisfies Expected<
      RestoreRowOptions<M>
    >,
    search: searched,
    explainSearch: searched,
    watchSearch: searched,
    scan: {
      ...withDeleted,
      orderBy: true,
      filter: true,
      maxReads: true,
      take: true,
      cursor: true,
      ...signal,
      ...shape,
    } satisfies Expected<ScanOptions<M, Models> & DeletedOption<M>>,
    count,
    exists: count,
    aggregate: aggregated,
    rank: {
      where: true,
      index: true,
      by: true,
      order: true,
      maxReads: true,
      ...signal,
    } satisfies Expected<RankOptions<M, "byEmail">>,
    distinct: {
      field: true,
      where: true,
      order: true,
      index: true,
      take: true,
      maxReads: true,
      ...signal,
    } satisfies Expected<DistinctOptions<M>>,
    groupBy: {
      ...aggregated,
      by: true,
      orderBy: true,
      having: true,
      take: true,
    } satisfies Expected<GroupByOptions<M, ["id"], object>>,
    create: created,
    createMany: { ...created, atomic: true, skipDuplicates: true } satisfies Expected<
      CreateManyOptions<M, Models>
    >,
    update: { ...deleted, data: true, expireIn: true } satisfies Expected<UpdateOptions<M, Models>>,
    upsert: { ...deleted, create: true, update: true, expireIn: true } satisfies Expected<
      UpsertOptions<M, Models>
    >,
    delete: deleted,
    deleteMany: deletedRows,
    updateMany: { ...deletedRows, data: true, expireIn: true } satisfies Expected<
      UpdateManyOptions<M, Models>
    >,
  };

  it.each(Object.keys(allowedOptions) as RepositoryMethod[])(
    "are those that %s takes",
    (method) => {
      expect([...allowedOptions[method]].sort()).toEqual(Object.keys(byMethod[method]).sort());
    },
  );

  it("of generated repositories are among those that the methods take", () => {
    type AnyRows = Rows<object, object, object>;
    type Names<T> = T extends unknown ? keyof T : never;
    type Option<K extends keyof AnyRows> = Names<NonNullable<Parameters<AnyRows[K]>[0]>>;
    const key = { index: true, where: true } as const;
    const read = { ...key, maxReads: true, ...signal } as const;
    const counted = { ...read, filter: true } as const;
    const reads = { maxReads: true, filter: true } as const;
    const page = { take: true, cursor: true, order: true, ...reads, ...signal } as const;
    const batch = { ...key, ...reads, take: true, order: true, atomic: true } as const;
    const values = { ...read, take: true, order: true } as const;
    const aggregates = { count: true, sum: true, avg: true, min: true, max: true } as const;
    const ofGenerated = {
      findUnique: read satisfies Record<Option<"findUnique">, true>,
      findUniqueOrThrow: read satisfies Record<Option<"findUniqueOrThrow">, true>,
      watch: read satisfies Record<Option<"watch">, true>,
      findMany: { ...key, ...page } satisfies Record<Option<"findMany">, true>,
      watchMany: { ...key, ...page } satisfies Record<Option<"watchMany">, true>,
      scan: page satisfies Record<Option<"scan">, true>,
      count: counted satisfies Record<Option<"count">, true>,
      exists: counted satisfies Record<Option<"exists">, true>,
      distinct: { ...values, field: true } satisfies Record<Option<"distinct">, true>,
      aggregate: { ...read, ...aggregates } satisfies Record<Option<"aggregate">, true>,
      groupBy: { ...values, ...aggregates, by: true, orderBy: true, having: true } satisfies Record<
        Option<"groupBy">,
        true
      >,
      create: { data: true, expireIn: true } satisfies Record<Option<"create">, true>,
      createMany: {
        data: true,
        expireIn: true,
        atomic: true,
        skipDuplicates: true,
      } satisfies Record<Option<"createMany">, true>,
      update: { ...key, data: true, expireIn: true, ifVersion: true } satisfies Record<
        Option<"update">,
        true
      >,
      updateMany: { ...batch, data: true, expireIn: true } satisfies Record<
        Option<"updateMany">,
        true
      >,
      upsert: {
        ...key,
        create: true,
        update: true,
        expireIn: true,
        ifVersion: true,
      } satisfies Record<Option<"upsert">, true>,
      delete: { ...key, ifVersion: true } satisfies Record<Option<"delete">, true>,
      deleteMany: batch satisfies Record<Option<"deleteMany">, true>,
    };
    for (const [method, options] of Object.entries(ofGenerated)) {
      const taken = generatedOptions[method as RepositoryMethod];
      expect(Object.keys(options).filter((name) => !taken.has(name))).toEqual([]);
    }
  });

  it("belong to methods that one implementation has, for both kinds of repositories", () => {
    type Inferred = Repository<M, Models>;
    // The arguments of the inferred methods are too generic to be compared.
    type Results = {
      [K in keyof Inferred]: (...options: never) => ReturnType<Inferred[K]>;
    };
    const fits = (calls: Calls) => {
      const inferred: Results = new RowOperations(calls);
      const generated: Rows<object, object, object> = new GeneratedRows(calls);
      return [inferred, generated];
    };
    const hasNoOthers: [Exclude<keyof RowOperations, keyof Inferred>] extends [never]
      ? true
      : false = true;
    expect(hasNoOthers).toBe(true);
    expect(fits(new Calls({} as never))).toHaveLength(2);
  });

  it("continue with findFirst where a page ended", () =>
    withUsers(async (db) => {
      await db.users.createMany({ data: [users.ada, users.bob] });
      const query = { orderBy: { id: "asc" } } as const;
      const { items, cursor } = await db.users.findMany({ ...query, take: 1 });
      const next = await db.users.findFirst({ ...query, cursor });
      expect(next?.id).not.toBe(items[0]?.id);
      expect(next).not.toBeNull();
    }));
});

describe("createDatabase", () => {
  it.each([
    ["argument", undefined],
    ["kv", { models: { users: User } }],
    ["models", { kv: {} }],
    ["models.users", { models: { users: { name: "users" } } }],
    ["hooks.user", { models: { users: User }, hooks: { user: {} } }],
    ["onQuery", { models: { users: User }, onQuery: true }],
    ["maxReads", { models: { users: User }, maxReads: Number.NaN }],
    ["maxReads", { models: { users: User }, maxReads: -1 }],
  ])("names %s that it cannot take", async (argument, options) => {
    const kv = await openKv();
    try {
      const given = options && (argument === "kv" ? options : { ...options, kv });
      expect(await rejection(createDatabase(given as never))).toMatchObject({
        code: "KW_ARGUMENT_INVALID",
        argument,
      });
    } finally {
      await kv.close();
    }
  });
});

it("a model is named transaction in a database at its peril", async () => {
  const kv = await openKv();
  try {
    const model = defineModel({ name: "t", schema: User.schema, primaryKey: "id" });
    const opened = createDatabase({ kv, models: { transaction: model } });
    expect(await rejection(opened)).toMatchObject({ code: "KW_MODEL_INVALID" });
  } finally {
    await kv.close();
  }
});
