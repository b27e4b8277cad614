import { group } from "./case-list.mjs";

const values = {
  "a Blob": new Blob(["abc"], { type: "text/plain" }),
  "an empty Blob": new Blob([]),
  "a File": new File(["abc"], "ä.txt", { type: "text/plain", lastModified: 5 }),
  "a DOMException": new DOMException("message", "AbortError"),
  "a DOMException of another name": new DOMException("", "Other"),
  "a ReadableStream": new ReadableStream(),
  "a WritableStream": new WritableStream(),
  "a TransformStream": new TransformStream(),
};

for (const [name, value] of Object.entries(values)) {
  group(name, {
    stored: ({ kv }) => stored(kv, value),
    "stored in an object": async ({ kv }) => await stored(kv, { a: [value] }, (read) => read?.a[0]),
    "stored twice in an object": async ({ kv }) => {
      await kv.set(["a"], { b: value, c: value });
      const read = (await kv.get(["a"])).value;
      return read.b === read.c;
    },
    "in a message": ({ kv }) => kv.enqueue(value),
  });
}

group("a Blob", {
  "beside a mutation": async ({ kv }) => {
    await kv
      .atomic()
      .set(["a"], new Blob(["a"]))
      .set(["b"], 1)
      .delete(["c"])
      .commit();
    return (await kv.get(["b"])).value;
  },
  "in an operation that changes later": async ({ kv }) => {
    const key = ["a"];
    const bytes = new Uint8Array([1]);
    const atomic = kv
      .atomic()
      .set(key, new Blob(["a"]))
      .set(["b"], bytes);
    const commit = atomic.commit();
    key[0] = "c";
    bytes[0] = 2;
    atomic.set(["d"], 1);
    await commit;
    return (await kv.getMany([["a"], ["b"], ["c"], ["d"]])).map(({ value }) =>
      value instanceof Blob ? "a Blob" : value,
    );
  },
  "delivered in a message": async ({ kv }) => {
    const arrived = new Promise((resolve) => void kv.listenQueue(resolve));
    await kv.enqueue({ a: new Blob(["abc"]) });
    return await contentOf((await arrived).a);
  },
  inspected: ({ kv, inspectByNode }) =>
    /set\(\[ 'a' \], (\w*)/.exec(inspectByNode(kv.atomic().set(["a"], new Blob(["a"]))))[1],
  "under a wrong key": ({ kv }) => kv.set([null], new Blob(["a"])),
  "that is too large": ({ kv }) => kv.set(["a"], new Blob([new Uint8Array(70_000)])),
});

async function stored(kv, value, partOf = (read) => read) {
  await kv.set(["a"], value);
  return await contentOf(partOf((await kv.get(["a"])).value));
}

async function contentOf(value) {
  if (value instanceof DOMException) return [value.name, value.message, value.code];
  // Bun adds a character set to the type of a text.
  const [type] = value.type.split(";");
  const ofFile = value instanceof File ? [value.name, value.lastModified] : [];
  return [value.size, type, await value.text(), ...ofFile];
}
