import workerAddress from "./worker/main.mjs?worker&url";

/**
 * Loads the code of the workers once, so that programs run without a network after that, and keeps
 * one worker ready. It is loaded with a low priority, because the page can be read without it.
 */
export async function loadWorkers() {
  const response = await fetch(workerAddress, { priority: "low" });
  if (!response.ok) throw new Error(`The server answered with the status ${response.status}.`);
  const blob = new Blob([await response.text()], { type: "text/javascript" });
  const address = URL.createObjectURL(blob);
  let next = startWorker(address);
  await next;
  return {
    /** Returns a worker that has run no program. The caller ends it. */
    take() {
      const worker = next ?? startWorker(address);
      next = undefined;
      return worker;
    },
    /** Starts a worker for the next program. */
    prepare() {
      next ??= startWorker(address);
    },
    close() {
      next?.then((worker) => worker.terminate()).catch(() => undefined);
      URL.revokeObjectURL(address);
    },
  };
}

function startWorker(address) {
  return new Promise((resolve, reject) => {
    const worker = new Worker(address, { name: "playground" });
    worker.addEventListener("message", () => resolve(worker), { once: true });
    worker.addEventListener("error", (event) => reject(new Error(event.message)), { once: true });
  });
}
