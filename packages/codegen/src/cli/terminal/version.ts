import { readFileSync } from "node:fs";

/** Returns the version of this package. */
export function versionOf(): string {
  const packageJson = readFileSync(new URL("../../../package.json", import.meta.url), "utf8");
  return (JSON.parse(packageJson) as { readonly version: string }).version;
}
