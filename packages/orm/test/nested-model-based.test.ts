import { type EmbeddedKv, type Kv, openKv } from "@keywright/core";
import { expect, it } from "vitest";
import { createDatabase } from "../src/index.js";
import { verifyIndexes } from "../src/migrate.js";
import { Crash, crashingKv } from "./faulty-kv.js";
import {
  type Data,
  type ModelName,
  nestedModels,
  PlainDatabase,
  Refused,
  relations,
} from "./nested-model.js";
import { expectIndexesToMatch } from "./verify-indexes.js";
import { expectReferencesToHold } from "./verify-references.js";

/** How many databases each test makes, and how many calls on each of them. */
const databases = Number(process.env.NESTED_DATABASES ?? 3);
const callsPerDatabase = 40;

interface Call {
  readonly model: ModelName;
  readonly method: "create" | "update" | "upsert" | "delete";
  readonly id: string;
  readonly data: Data;
  readonly update: Data;
}

/** A generator of numbers in [0, 1) that depend on a seed: mulberry32. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

class Calls {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = randomOf(seed);
  }

  #below(n: number): number {
    return Math.floor(this.#random() * n);
  }

  #one<T>(list: readonly T[]): T {
    return list[this.#below(list.length)] as T;
  }

  #id(model: ModelName): string {
    return `${model[0]}${model[1]}${this.#below(4)}`;
  }

  #list<T>(make: () => T): T | T[] {
    return this.#below(3) === 0 ? make() : Array.from({ length: this.#below(3) }, make);
  }

  next(): Call {
    const model = this.#one(["users", "users", "posts", "profiles", "tags"] as const);
    const method = this.#one([
      "create",
      "create",
      "update",
      "update",
      "update",
      "upsert",
      "delete",
    ] as const);
    const id = this.#id(model);
    const isNew = method !== "update";
    const data = { ...this.#data(model, isNew, 3), ...(isNew && { id }) };
    return { model, method, id, data, update: this.#data(model, false, 3) };
  }

  /** @param reference the field that the row above determines. */
  #data(model: ModelName, isNew: boolean, depth: number, reference?: string): Data {
    const data: Record<string, unknown> = {};
    if (isNew) data.id = this.#id(model);
    if (model === "users" && (isNew || this.#below(2) === 0)) data.name = `n${this.#below(9)}`;
    if (model === "posts" && (isNew || this.#below(2) === 0)) data.title = `t${this.#below(9)}`;
    if (depth === 0) return data;
    for (const [name, relation] of Object.entries(relations[model])) {
      if ("field" in relation && relation.kind === "to" && relation.field === reference) continue;
      if (this.#below(3) > 0) continue;
      const isOne = relation.kind === "to" || relation.kind === "one";
      const names = ["create", "connect", "connectOrCreate"];
      if (!isNew) names.push("disconnect", "delete", "update", "upsert");
      if (!isNew && !isOne) names.push("set");
      const count = relation.kind === "to" ? 1 : 1 + this.#below(2);
      const operations: Record<string, unknown> = {};
      for (let i = 0; i < count; i++) {
        const operation = this.#one(names);
        const make = () => this.#operand(relation.model, operation, isOne, depth - 1, relation);
        operations[operation] = isOne ? make() : this.#list(make);
      }
      data[name] = operations;
    }
    return data;
  }

  #operand(model: ModelName, operation: string, isOne: boolean, depth: number, relation: object) {
    const reference =
      "field" in relation && "kind" in relation && relation.kind !== "to"
        ? (relation.field as string)
        : undefined;
    const where = { id: this.#id(model) };
    const create = () => this.#data(model, true, depth, reference);
    const update = () => this.#data(model, false, depth, reference);
    switch (operation) {
      case "create":
        return create();
      case "connectOrCreate":
        return { where, create: { ...create(), ...where } };
      case "update":
        return isOne ? update() : { where, data: update() };
      case "upsert":
        return { ...(!isOne && { where }), create: create(), update: update() };
      case "disconnect":
      case "delete":
        return isOne ? true : where;
      default:
        return where;
    }
  }
}

type AnyRepository = Record<Call["method"], (options: object) => Promise<unknown>>;

const open = async (kv: Kv) =>
  (await createDatabase({ kv, models: nestedModels })) as unknown as Record<string, AnyRepository>;

async function make(db: Record<string, AnyRepository>, call: Call): Promise<void> {
  const { model, method, id, data, update } = call;
  const where = { id };
  const options = {
    create: { data },
    update: { where, data },
    upsert: { where, create: data, update },
    delete: { where },
  };
  await db[model]![method](options[method]);
}

/** Makes a call on plain maps. Returns the maps after it, undefined if it is refused. */
function expected(plain: PlainDatabase, call: Call): PlainDatabase | undefined {
  const { model, method, id, data, update } = call;
  const after = plain.copy();
  try {
    if (method === "create") after.create(model, data);
    else if (method === "update") after.update(model, id, data);
    else if (method === "upsert") after.upsert(model, id, data, update);
    else after.delete(model, id);
    return after;
  } catch (error) {
    if (!(error instanceof Refused)) throw error;
    return undefined;
  }
}

async function stored(kv: Kv): Promise<unknown> {
  const rows: Record<string, unknown[]> = {};
  for (const name of ["users", "profiles", "posts", "tags", "post_tags"]) {
    rows[name] = [];
    for await (const { value } of kv.list({ prefix: [name] })) rows[name].push(value);
  }
  return rows;
}

function contentOf({ rows, links }: PlainDatabase): unknown {
  const sorted = Object.entries(rows).map(([name, map]) => {
    const list = [...map.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
    return [name, list];
  });
  const pairs = [...links].toSorted().map((link) => {
    const [postId, tagId] = link.split("/");
    return { postId, tagId };
  });
  return { ...Object.fromEntries(sorted), post_tags: pairs };
}

async function verify(kv: EmbeddedKv): Promise<void> {
  const db = await createDatabase({ kv, models: nestedModels });
  expect((await verifyIndexes(db)).status).toBe("clean");
  for (const model of Object.values(nestedModels)) await expectIndexesToMatch(kv, model);
  await expectReferencesToHold(kv, nestedModels);
}

it.each(Array.from({ length: databases }, (_, i) => i + 1))(
  "random nested writes do what they do to plain arrays, or nothing (seed %i)",
  async (seed) => {
    const kv = await openKv();
    try {
      const calls = new Calls(seed);
      let db = await open(kv);
      let plain = new PlainDatabase();
      let done = 0;
      for (let i = 0; i < callsPerDatabase; i++) {
        const call = calls.next();
        const after = expected(plain, call);
        if (i % 4 === 3) {
          // The commit fails: as a whole, or only its answer is lost.
          const moment = i % 8 === 3 ? "before" : "after";
          const crashing = await open(crashingKv(kv, 1, moment));
          const outcome = await make(crashing, call).catch((error: unknown) => error);
          const isDone = outcome === undefined || (outcome instanceof Crash && moment === "after");
          if (isDone && after !== undefined) plain = after;
          db = await open(kv);
        } else {
          const outcome = await make(db, call).then(
            () => "done",
            (error: Error) => error,
          );
          expect([JSON.stringify(call), outcome === "done"]).toEqual([
            JSON.stringify(call),
            after !== undefined,
          ]);
          if (after !== undefined) done++;
          plain = after ?? plain;
        }
        expect([JSON.stringify(call), await stored(kv)]).toEqual([
          JSON.stringify(call),
          contentOf(plain),
        ]);
      }
      expect(done).toBeGreaterThan(5);
      await verify(kv);
    } finally {
      await kv.close();
    }
  },
);

/** The same database, which records the versionstamps of the commits in a list. */
function recordingKv(kv: Kv, stamps: string[]): Kv {
  return new Proxy(kv, {
    get(target, property) {
      if (property === "atomic") {
        return () => {
          const operation = target.atomic();
          const commit = operation.commit.bind(operation);
          operation.commit = async () => {
            const result = await commit();
            if (result.ok) stamps.push(result.versionstamp);
            return result;
          };
          return operation;
        };
      }
      const member: unknown = Reflect.get(target, property, target);
      return typeof member === "function" ? member.bind(target) : member;
    },
  });
}

it.each(Array.from({ length: databases }, (_, i) => i + 1))(
  "concurrent nested writes do what they do one after another, in the order of their commits (seed %i)",
  async (seed) => {
    const kv = await openKv();
    try {
      const calls = new Calls(1000 + seed);
      await open(kv);
      let plain = new PlainDatabase();
      for (let round = 0; round < callsPerDatabase / 8; round++) {
        const made = await Promise.all(
          Array.from({ length: 8 }, async () => {
            const call = calls.next();
            const stamps: string[] = [];
            const db = await open(recordingKv(kv, stamps));
            stamps.length = 0;
            const error = await make(db, call).catch((thrown: Error) => thrown);
            return { call, stamps, error };
          }),
        );
        const written = made.filter(({ stamps }) => stamps.length > 0);
        for (const { stamps, error } of written)
          expect([stamps.length, error]).toEqual([1, undefined]);
        written.sort((a, b) => (a.stamps[0]! < b.stamps[0]! ? -1 : 1));
        for (const { call } of written) {
          const after = expected(plain, call);
          expect([JSON.stringify(call), after !== undefined]).toEqual([JSON.stringify(call), true]);
          plain = after!;
        }
        expect(await stored(kv)).toEqual(contentOf(plain));
      }
      await verify(kv);
    } finally {
      await kv.close();
    }
  },
);
