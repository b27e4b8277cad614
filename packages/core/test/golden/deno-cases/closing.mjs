import { group } from "./case-list.mjs";

group(
  "after close",
  {
    get: ({ kv }) => kv.get(["a"]),
    "get of a wrong key": ({ kv }) => kv.get([null]),
    "get of an empty key": ({ kv }) => kv.get([]),
    getMany: ({ kv }) => kv.getMany([["a"]]),
    "getMany of 11 keys": ({ kv }) => kv.getMany(Array(11).fill(["a"])),
    set: ({ kv }) => kv.set(["a"], 1),
    "set of a wrong key": ({ kv }) => kv.set([null], 1),
    "set of a function": ({ kv }) => kv.set(["a"], () => 1),
    delete: ({ kv }) => kv.delete(["a"]),
    "list, made": ({ kv }) => void kv.list({ prefix: [] }),
    list: ({ kv }) => kv.list({ prefix: [] }).next(),
    "list by a wrong selector": ({ kv }) => kv.list({}),
    atomic: ({ kv }) => kv.atomic(),
    "atomic, built": ({ kv }) => kv.atomic().set(["a"], 1),
    commit: ({ kv }) => kv.atomic().commit(),
    enqueue: ({ kv }) => kv.enqueue(1),
    listenQueue: ({ kv }) => kv.listenQueue(() => undefined),
    watch: ({ kv }) => kv.watch([["a"]]),
    commitVersionstamp: ({ kv }) => kv.commitVersionstamp(),
    close: ({ kv }) => kv.close(),
    dispose: ({ kv }) => kv[Symbol.dispose](),
  },
  ({ kv }) => kv.close(),
);

group("close", {
  "within a list": async ({ kv }) => {
    await kv.atomic().set(["a"], 1).set(["b"], 1).commit();
    const list = kv.list({ prefix: [] }, { batchSize: 1 });
    await list.next();
    await kv.close();
    return await list.next();
  },
  "within a list's batch": async ({ kv }) => {
    await kv.atomic().set(["a"], 1).set(["b"], 1).commit();
    const list = kv.list({ prefix: [] });
    await list.next();
    await kv.close();
    return (await list.next()).value.key;
  },
  "before a commit": async ({ kv }) => {
    const atomic = kv.atomic().set(["a"], 1);
    await kv.close();
    return await atomic.commit();
  },
  "ends listenQueue": async ({ kv }) => {
    const listening = kv.listenQueue(() => undefined);
    await kv.get(["a"]);
    await kv.close();
    return await listening;
  },
  "by dispose": async ({ kv }) => {
    kv[Symbol.dispose]();
    return await kv.get(["a"]);
  },
  "by dispose, twice": ({ kv }) => {
    kv[Symbol.dispose]();
    kv[Symbol.dispose]();
  },
  "by dispose, then listenQueue": async ({ kv }) => {
    kv[Symbol.dispose]();
    return await kv.listenQueue(() => undefined);
  },
});
