import type { Kv as NpmDenoKv } from "@deno/kv";
import { describe, expectTypeOf, it } from "vitest";
import {
  type AtomicCheck,
  type AtomicOperation,
  type EmbeddedKv,
  type Kv,
  type KvCommitError,
  type KvCommitResult,
  type KvEntry,
  type KvEntryMaybe,
  type KvKey,
  type KvKeyPart,
  type KvLike,
  type KvListIterator,
  type KvListSelector,
  openKv,
} from "../src/index.js";

interface User {
  name: string;
}

// The compiler checks these; `tsc -p test` runs it.
describe("the types of Kv", () => {
  it("of keys", () => {
    expectTypeOf<KvKeyPart>().toEqualTypeOf<Uint8Array | string | number | bigint | boolean>();
    expectTypeOf<KvKey>().toEqualTypeOf<readonly KvKeyPart[]>();
    expectTypeOf<["users", 1]>().toExtend<KvKey>();
    expectTypeOf<[Date]>().not.toExtend<KvKey>();
  });

  it("of get", () => {
    const get = (kv: Kv) => kv.get<User>(["users", 1]);
    expectTypeOf<Awaited<ReturnType<typeof get>>>().toEqualTypeOf<KvEntryMaybe<User>>();
    const untyped = (kv: Kv) => kv.get(["a"], { consistency: "eventual" });
    expectTypeOf<Awaited<ReturnType<typeof untyped>>>().toEqualTypeOf<KvEntryMaybe<unknown>>();
    const read = (entry: KvEntryMaybe<User>) => {
      if (entry.versionstamp === null) return expectTypeOf(entry.value).toEqualTypeOf<null>();
      expectTypeOf(entry.versionstamp).toEqualTypeOf<string>();
      return expectTypeOf(entry.value).toEqualTypeOf<User>();
    };
    expectTypeOf(read).parameter(0).toEqualTypeOf<KvEntryMaybe<User>>();
  });

  it("of getMany", () => {
    const getTwo = (kv: Kv) => kv.getMany<[User, number]>([["users", 1], ["count"]]);
    expectTypeOf<Awaited<ReturnType<typeof getTwo>>>().toEqualTypeOf<
      [KvEntryMaybe<User>, KvEntryMaybe<number>]
    >();
    const getList = (kv: Kv, keys: KvKey[]) => kv.getMany<User[]>(keys);
    expectTypeOf<Awaited<ReturnType<typeof getList>>>().toEqualTypeOf<KvEntryMaybe<User>[]>();
    // @ts-expect-error: two types, one key.
    const getTooFew = (kv: Kv) => kv.getMany<[User, number]>([["users", 1]]);
    expectTypeOf(getTooFew).toBeFunction();
  });

  it("of set and delete", () => {
    expectTypeOf<Kv["set"]>().returns.toEqualTypeOf<Promise<KvCommitResult>>();
    expectTypeOf<Kv["delete"]>().returns.toEqualTypeOf<Promise<void>>();
  });

  it("of list", () => {
    const list = (kv: Kv) =>
      kv.list<User>({ prefix: ["users"] }, { limit: 1, reverse: true, cursor: "" });
    expectTypeOf<ReturnType<typeof list>>().toEqualTypeOf<KvListIterator<User>>();
    expectTypeOf<KvListIterator<User>>().toExtend<AsyncIterableIterator<KvEntry<User>>>();
    expectTypeOf<KvListIterator<User>["cursor"]>().toEqualTypeOf<string>();
    expectTypeOf<{ prefix: KvKey; start: KvKey }>().toExtend<KvListSelector>();
    expectTypeOf<{ start: KvKey; end: KvKey }>().toExtend<KvListSelector>();
    expectTypeOf<{ start: KvKey }>().not.toExtend<KvListSelector>();
  });

  it("of atomic", () => {
    expectTypeOf<AtomicOperation["commit"]>().returns.toEqualTypeOf<
      Promise<KvCommitResult | KvCommitError>
    >();
    expectTypeOf<KvEntryMaybe<User>>().toExtend<AtomicCheck>();
    const chain = (kv: Kv, entry: KvEntryMaybe<User>) =>
      kv
        .atomic()
        .check(entry, { key: ["a"], versionstamp: null })
        .set(["a"], 1)
        .delete(["b"]);
    expectTypeOf<ReturnType<typeof chain>>().toEqualTypeOf<AtomicOperation>();
    const read = (result: KvCommitResult | KvCommitError) =>
      result.ok ? expectTypeOf(result.versionstamp).toEqualTypeOf<string>() : undefined;
    expectTypeOf(read).toBeFunction();
  });

  it("of openKv", () => {
    expectTypeOf(openKv).returns.toEqualTypeOf<Promise<EmbeddedKv>>();
    expectTypeOf<EmbeddedKv>().toExtend<Kv>();
    expectTypeOf<EmbeddedKv>().toExtend<AsyncDisposable>();
    expectTypeOf(openKv).parameter(1).exclude<undefined>().toHaveProperty("durability");
  });

  it("of what has the interface of Deno KV, with keys as Deno types them too", () => {
    type DenoKey = readonly (KvKeyPart | symbol)[];
    type DenoEntry<T> = { key: DenoKey; value: T; versionstamp: string };
    type DenoEntryMaybe<T> = DenoEntry<T> | { key: DenoKey; value: null; versionstamp: null };
    /** The methods of `Deno.Kv` whose types differ from ours. */
    interface DenoKv extends Omit<Kv, "get" | "getMany" | "list" | "watch"> {
      get<T = unknown>(key: DenoKey): Promise<DenoEntryMaybe<T>>;
      getMany<T extends readonly unknown[]>(
        keys: readonly [...{ [K in keyof T]: DenoKey }],
      ): Promise<{ [K in keyof T]: DenoEntryMaybe<T[K]> }>;
      list<T = unknown>(
        selector: KvListSelector,
      ): AsyncIterableIterator<DenoEntry<T>> & { cursor: string };
    }
    expectTypeOf<DenoKv>().toExtend<KvLike>();
    expectTypeOf<DenoKv>().not.toExtend<Kv>();
    expectTypeOf<Kv>().toExtend<KvLike>();
    expectTypeOf<EmbeddedKv>().toExtend<KvLike>();
    expectTypeOf<NpmDenoKv>().toExtend<Kv>();
    expectTypeOf<NpmDenoKv>().toExtend<KvLike>();
  });

  it("of a handler of the queue, which says the type of its messages", () => {
    const listen = (kv: Kv) => kv.listenQueue((job: { id: number }) => void job.id);
    expectTypeOf(listen).returns.toEqualTypeOf<Promise<void>>();
  });
});
