import cluster from "node:cluster";

if (cluster.isWorker) await import("./server.js");
else {
  for (let n = 0; n < 3; n++) cluster.fork();
  const replace = () => cluster.fork();
  cluster.on("exit", replace);
  process.once("SIGTERM", () => {
    cluster.off("exit", replace);
    for (const worker of Object.values(cluster.workers)) worker.process.kill("SIGTERM");
  });
}
