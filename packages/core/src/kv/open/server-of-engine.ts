import { EngineServer } from "../../engine/remote/server/engine-server.js";
import type { SharedEngine } from "./shared-engine.js";

/** Returns the server of an engine, which all handles of the database share. */
export function serverOfEngine(shared: SharedEngine): EngineServer {
  return shared.serverBy((database) => new EngineServer(database));
}
