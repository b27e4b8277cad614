// Runs a suite in Deno, in the place of `deno test`, with another `Deno.openKv`, and prints each
// test as a line of JSON, `{ name, problem }`. Arguments: the file of the suite, its name, where
// databases are, and a URL that answers with those of new servers. Databases are "compat", those of
// Keywright in this process, or "connect", on servers of Keywright to which Deno's client connects.
import { KvU64, openKv } from "@keywright/core";

const [file, suite, place, servers] = Deno.args;
/** No test takes that long in milliseconds. */
const patience = 300_000;
const native = Deno.openKv.bind(Deno);
const served = new Map();
const tests = [];

const opens = {
  // A database is a folder, and tests create a file.
  compat: (path) => openKv(isPlain(path) ? `${path}-folder` : path, { compat: "deno" }),
  connect: async (path) => {
    const kv = await native(await urlOf(path));
    // Otherwise a test waits for messages that never come: the client only prints this.
    kv.listenQueue = async () => failTest(new Error("KV Connect does not support queues"));
    return kv;
  },
};
/** Ends the test that runs. */
let failTest = () => undefined;

function isPlain(path) {
  return typeof path === "string" && !/^$|^:|^https?:/.test(path);
}

/**
 * Returns the URL of a server, one for each path. Returns the path if the client has to refuse it.
 */
async function urlOf(path) {
  if (!isPlain(path) && path !== ":memory:") return path;
  if (path === ":memory:") return await serveNew();
  if (!served.has(path)) served.set(path, serveNew());
  return await served.get(path);
}

async function serveNew() {
  return await (await fetch(servers)).text();
}

const open = opens[place];
if (suite === "deno") {
  const changed = { openKv: open, test: (...of) => tests.push(testOf(of)) };
  if (place === "compat") {
    const kv = await openKv(":memory:", { compat: "deno" });
    Object.assign(changed, { KvU64, AtomicOperation: kv.atomic().constructor });
    await kv.close();
  }
  for (const [name, value] of Object.entries(changed)) Object.defineProperty(Deno, name, { value });
  await import(file);
} else {
  const { endToEnd } = await import(file);
  const service = { openKv: open };
  for (const path of place === "connect" ? [":memory:"] : [":memory:", await Deno.makeTempFile()])
    tests.push({
      name: `end to end, ${path === ":memory:" ? "in memory" : "in a file"}`,
      fn: async () => await endToEnd(service, { type: "deno", path: await pathOf(path) }),
    });
}

/** The end-to-end test has other rules for servers, which it knows from their URLs. */
async function pathOf(path) {
  return place === "connect" ? await urlOf(path) : path;
}

for (const { name, fn, ignore } of tests) {
  if (ignore) continue;
  const problem = await problemOf(fn);
  console.log(JSON.stringify({ name, problem }));
}
Deno.exit();

function testOf(of) {
  const fn = of.find((each) => typeof each === "function");
  const options = of.find((each) => typeof each === "object") ?? {};
  const name = of.find((each) => typeof each === "string") ?? options.name ?? fn.name;
  return { fn, ...options, name };
}

async function problemOf(fn) {
  let timer;
  const tooLong = new Promise((_, reject) => {
    failTest = reject;
    timer = setTimeout(() => reject(new Error("it does not end")), patience);
  });
  try {
    await Promise.race([fn({ name: "" }), tooLong]);
    return undefined;
  } catch (error) {
    return String(error?.message ?? error).slice(0, 300);
  } finally {
    clearTimeout(timer);
  }
}
