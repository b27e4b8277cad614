import { group } from "./case-list.mjs";

const objects = {
  "a KvU64": ({ KvU64 }) => new KvU64(5n),
  "a KvU64 in an object": ({ KvU64 }) => ({ a: [new KvU64(5n)] }),
  "a KvU64 in an object, deeper than it shows": ({ KvU64 }) => ({
    a: { b: { c: { d: new KvU64(5n) } } },
  }),
  "an operation": ({ kv }) => kv.atomic(),
  "an operation with checks": ({ kv }) =>
    kv
      .atomic()
      .check({ key: ["a", 1, 2n, true, new Uint8Array([1, 2])], versionstamp: null })
      .check({ key: ["b"], versionstamp: "00000000000000000001" }, { key: null }),
  "an operation with values": ({ kv, KvU64 }) =>
    kv
      .atomic()
      .set(["a"], { x: 1, list: ["y", new Map([[1, new Set([2])]])] })
      .set(["b"], "text", { expireIn: 1000 })
      .set(["c"], new KvU64(5n))
      .set(["d"], new Uint8Array([9, 8]), { expireIn: 0 })
      .set(["e"], undefined)
      .set(["f"], null)
      .set(["g", kv.commitVersionstamp()], { u: new KvU64(5n) }),
  "an operation with numbers": ({ kv }) => kv.atomic().sum(["a"], 1n).min(["b"], 2n).max(["c"], 3n),
  "an operation with mutations": ({ kv, KvU64 }) =>
    kv
      .atomic()
      .mutate(
        { type: "delete", key: ["a"] },
        { type: "sum", key: ["b"], value: new KvU64(1n) },
        { type: "sum", key: ["b"], value: 7 },
        { type: "min", key: ["c"], value: "x" },
        { type: "max", key: ["d"], value: new Uint8Array([1]) },
        { type: "set", key: ["e"], value: 1, expireIn: 5 },
      ),
  "an operation with messages": ({ kv, KvU64 }) =>
    kv
      .atomic()
      .enqueue("hello", { delay: 5, keysIfUndelivered: [["z"]], backoffSchedule: [1, 2] })
      .enqueue({ a: 1 })
      .enqueue(new KvU64(5n))
      .enqueue(new Uint8Array([1]), { delay: 0, keysIfUndelivered: [] })
      .enqueue(null, { backoffSchedule: [] }),
  "an operation in every order": ({ kv }) =>
    kv
      .atomic()
      .enqueue(1)
      .delete(["a"])
      .check({ key: ["a"], versionstamp: null })
      .set(["b"], "x"),
  "an operation in an object": ({ kv }) => ({ operation: kv.atomic().delete(["a"]) }),
  "an operation with deep values": ({ kv }) =>
    kv.atomic().set(["a"], { b: { c: { d: { e: 1 } } } }),
  "a database": ({ kv }) => kv,
  "an iterator": ({ kv }) => kv.list({ prefix: [] }),
};

for (const [name, make] of Object.entries(objects)) {
  group("inspect", {
    [`${name}, by util.inspect`]: (context) => context.inspectByNode(make(context)),
    [`${name}, by Deno.inspect`]: (context) => context.inspectByDeno(make(context)),
    [`${name}, in colors`]: (context) => context.inspectByNode(make(context), { colors: true }),
  });
}

group("inspect", {
  "an operation, depth 0": (context) =>
    context.inspectByNode(
      context.kv
        .atomic()
        .set(["a"], { b: {} })
        .enqueue(1, { keysIfUndelivered: [["z"]] }),
      { depth: 0 },
    ),
  "an entry": async ({ kv, KvU64, inspectByNode }) => {
    await kv.set(["a"], new KvU64(5n), { expireIn: 60_000 });
    const text = inspectByNode(await kv.get(["a"]));
    return text.replace(/[0-9a-f]{20}/, "…");
  },
});

group("the class of an operation", {
  "is exported": ({ kv, AtomicOperation }) => kv.atomic() instanceof AtomicOperation,
  "is its constructor": ({ kv, AtomicOperation }) => kv.atomic().constructor === AtomicOperation,
  "has a name": ({ AtomicOperation }) => AtomicOperation.name,
});
