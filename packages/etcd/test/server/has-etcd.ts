import { spawnSync } from "node:child_process";

/** True if the server is installed. Without it, the tests that need it are skipped. */
export const hasEtcd: boolean = spawnSync("etcd", ["--version"]).status === 0;
