import type { TestProject } from "vitest/node";
import { announceSkipped } from "./server/announce-skipped.js";
import { findServer } from "./server/installed-server.js";
import { PostgresServer } from "./server/postgres-server.js";

declare module "vitest" {
  interface ProvidedContext {
    /** The URL of a server for all tests, or undefined if none is installed. */
    postgresUrl: string | undefined;
  }
}

/** Starts the server that the tests share. */
export default async function setup(project: TestProject): Promise<(() => Promise<void>) | void> {
  if (findServer() === undefined) {
    announceSkipped();
    project.provide("postgresUrl", undefined);
    return;
  }
  const server = await PostgresServer.start(["fsync=off", "max_connections=200"]);
  project.provide("postgresUrl", server.url);
  return () => server.remove();
}
