import type { openKv } from "../src/kv/open-kv.js";

export declare class CrashRun {
  readonly cycles: number;
  readonly acknowledged: number;
  constructor(open: typeof openKv, path: string);
  cycle(durability: "full" | "relaxed", acknowledgements: number): Promise<string[]>;
}
