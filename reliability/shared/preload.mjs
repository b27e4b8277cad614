import { execFileSync, spawnSync } from "node:child_process";

/** Why no library in C can be loaded before a process. Undefined if one can be. */
export function missingPreload() {
  if (process.platform !== "linux") return "LD_PRELOAD of Linux";
  const { error } = spawnSync("cc", ["--version"]);
  return error === undefined ? undefined : "a C compiler (cc)";
}

/** Builds a library that `LD_PRELOAD` loads. */
export function buildPreload(source, library) {
  const flags = ["-O1", "-shared", "-fPIC", "-o", library, source, "-ldl", "-lpthread"];
  execFileSync("cc", flags, { stdio: ["ignore", "ignore", "inherit"] });
}
