import type { LevelOptions } from "./level/open-level.js";

/** How the processes that open the same folder work together. */
export interface AttachOptions {
  /** True if other processes may attach to this one. The default is true. */
  readonly serve?: boolean | undefined;
  /**
   * True to become the owner of the folder if its owner ends. If false, calls wait a few seconds
   * for another owner and fail. The default is true in a worker of `node:cluster`, whose workers
   * are equal, and if another thread of this process is the owner. It is false in other processes.
   */
  readonly takeOver?: boolean | undefined;
}

export interface OpenEngineOptions extends LevelOptions {
  /** False to fail if another process owns the folder, and to serve no other process. */
  readonly attach: AttachOptions | false;
  /** True to open a database whose restore has not finished. */
  readonly isRestoring?: boolean | undefined;
  /** True to open a database that was moved to another place. */
  readonly allowMoved?: boolean | undefined;
}
