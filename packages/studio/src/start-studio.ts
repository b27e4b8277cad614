import { serve } from "@hono/node-server";
import type { CorruptionError, KvLike } from "@keywright/core";
import type { DatabaseOptions, Models } from "@keywright/orm";
import { Guard } from "./access/guard.js";
import { openSource } from "./source/source.js";
import { studioApp } from "./studio-app.js";

/** In milliseconds. Connections that are open for longer while the studio closes are ended. */
const longestAnswer = 2000;

/** The database that the studio shows, and its place. */
export interface StudioOptions {
  /** Any database with the interface of Deno KV. The studio does not close it. */
  readonly kv: KvLike;
  /** The models of the program, by their names in it. Without them, only keys are shown. */
  readonly models?: Models;
  /** The migrations of the program, as `createDatabase` gets them. */
  readonly migrations?: DatabaseOptions<Models>["migrations"];
  /** The name of the project or of the database, for the title of the page. */
  readonly title?: string;
  /** The port on the loopback address. 0, the default, takes any that is free. */
  readonly port?: number;
  /** Refuses every change. False by default. */
  readonly readOnly?: boolean;
  /**
   * The error with which the database did not open, if it was opened nevertheless, with
   * `checkFiles: false`. The studio shows the damage and what can be read, and refuses every
   * change.
   */
  readonly damage?: CorruptionError;
}

/** A studio that runs. */
export interface Studio {
  /**
   * The address to open, with a token that works once. After that, the browser has a cookie, and no
   * other program can use the address.
   */
  readonly url: string;
  /** Ends all requests and stops the job that runs. The database stays open. */
  close(): Promise<void>;
}

/**
 * Serves the studio on a port of the loopback address.
 *
 * ```ts
 * const studio = await startStudio({ kv, models: { users: User } });
 * console.log(studio.url);
 * ```
 *
 * @throws the errors of `createDatabase`, and an error of the system if the port is not free.
 */
export async function startStudio(options: StudioOptions): Promise<Studio> {
  const source = await openSource(options);
  const guard = new Guard();
  const { app, close: closeApp } = studioApp(source, guard);
  const server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port: options.port ?? 0 });
  try {
    await new Promise<void>((resolve, reject) => {
      server.once("listening", resolve).once("error", reject);
    });
  } catch (error) {
    await closeApp();
    throw error;
  }
  const address = server.address();
  if (typeof address !== "object" || address === null)
    throw new TypeError("the server has no port");
  guard.setPort(address.port);
  return {
    url: guard.url,
    close: async () => {
      const closed = new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
      // Calls that have begun are answered.
      const end = () => "closeAllConnections" in server && server.closeAllConnections();
      const late = setTimeout(end, longestAnswer);
      await closeApp();
      if ("closeIdleConnections" in server) server.closeIdleConnections();
      await closed;
      clearTimeout(late);
    },
  };
}
