import type { KvU64 } from "../../src/index.js";

export declare const goldenValues: (u64: typeof KvU64) => Readonly<Record<string, unknown>>;
