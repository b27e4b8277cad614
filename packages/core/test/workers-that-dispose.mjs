// Starts workers, one after another. Each opens the database at a path, writes to it, disposes of
// it without waiting, and ends.
import { pathToFileURL } from "node:url";
import { isMainThread, parentPort, Worker, workerData } from "node:worker_threads";
import { openKv } from "../dist/index.js";

const workers = 20;

if (isMainThread) {
  const path = process.argv[2];
  const first = await openKv(path);
  // Expires before a worker opens the database, which then has work for a sweep.
  await first.set(["expired"], 1, { expireIn: 1 });
  await first.close();
  for (let n = 0; n < workers; n++) await runWorker(path);
  const kv = await openKv(path);
  console.log((await kv.get(["n"])).value);
  await kv.close();
} else {
  const { Deno } = globalThis;
  const kv = await openKv(workerData);
  await kv.set(["n"], ((await kv.get(["n"])).value ?? 0) + 1);
  kv[Symbol.dispose]();
  parentPort.postMessage("done");
  if (Deno === undefined) process.exit();
  else globalThis.close();
}

async function runWorker(path) {
  const worker = new Worker(new URL(pathToFileURL(process.argv[1])), { workerData: path });
  await new Promise((resolve, reject) => {
    worker.once("error", reject);
    // Deno has no event for the end of such a worker.
    worker.once(globalThis.Deno === undefined ? "exit" : "message", resolve);
  });
}
