import { group } from "./case-list.mjs";

group("a read", {
  "of one key": async ({ kv }) => {
    await kv.set(["a"], { b: 1 });
    return await kv.get(["a"]);
  },
  "of an absent key": ({ kv }) => kv.get(["a"]),
  "of two keys": async ({ kv }) => {
    await kv.set(["a"], 1);
    return await kv.getMany([["a"], ["b"]]);
  },
  "of an entry that expires": async ({ kv }) => {
    await kv.set(["a"], 1, { expireIn: 100_000 });
    return await kv.get(["a"]);
  },
  "with weak consistency": ({ kv }) => kv.get(["a"], { consistency: "weak" }),
  "with eventual consistency": ({ kv }) => kv.get(["a"], { consistency: "eventual" }),
  "with null consistency": ({ kv }) => kv.get(["a"], { consistency: null }),
  "with consistency 5": ({ kv }) => kv.get(["a"], { consistency: 5 }),
  "with null for options": ({ kv }) => kv.get(["a"], null),
  "of many with weak consistency": ({ kv }) => kv.getMany([["a"]], { consistency: "weak" }),
  "of many by null": ({ kv }) => kv.getMany(null),
  "of many by a string": ({ kv }) => kv.getMany("ab"),
  "of many by one key": ({ kv }) => kv.getMany(["a"]),
  "of a wrong key with weak consistency": ({ kv }) => kv.get([null], { consistency: "weak" }),
  "of an empty key with weak consistency": ({ kv }) => kv.get([], { consistency: "weak" }),
});

group("a write", {
  set: ({ kv }) => kv.set(["a"], 1),
  delete: ({ kv }) => kv.delete(["a"]),
});

group("watch", {
  "by null": ({ kv }) => kv.watch(null),
  "by a string": ({ kv }) => kv.watch("ab"),
  "by nothing": ({ kv }) => kv.watch(),
  "by one key": ({ kv }) => kv.watch(["a"]),
  "null for options": ({ kv }) => kv.watch([["a"]], null),
  "an empty key's report": async ({ kv }) => {
    const reader = kv.watch([[]]).getReader();
    const { value } = await reader.read();
    await reader.cancel();
    return value;
  },
  "the report of no key": ({ kv }) => kv.watch([]).getReader().read(),
  "its first report": async ({ kv }) => {
    await kv.set(["a"], 1);
    const reader = kv.watch([["a"], ["b"]]).getReader();
    const { value } = await reader.read();
    await reader.cancel();
    return value;
  },
  "the end": async ({ kv }) => {
    const reader = kv.watch([["a"]]).getReader();
    await reader.read();
    const next = reader.read();
    await kv.close();
    return await next;
  },
});
