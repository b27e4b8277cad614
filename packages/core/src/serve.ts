// What `@keywright/server` needs of a database to serve it.
import type { EngineServer } from "./engine/remote/server/engine-server.js";
import { EmbeddedKv } from "./kv/embedded-kv.js";
import { serverOfEngine } from "./kv/open/server-of-engine.js";

export { BufferedBytes } from "./engine/remote/server/buffered-bytes.js";
export type { EngineServer } from "./engine/remote/server/engine-server.js";
export type { Access, ServedDatabase } from "./engine/remote/server/served-database.js";
export { denoOrder } from "./keys/key-order.js";
export { nodesOfValue } from "./values/graph/nodes-of-value.js";

/** Returns the server of a database. It has no connection until it is given a stream. */
export function serverOf(kv: EmbeddedKv): EngineServer {
  return serverOfEngine(EmbeddedKv.sharedOf(kv, "serve"));
}
