import { readFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "./page-list.mjs";

/**
 * Returns the address under which a browser shows the files of the repository, or undefined if the
 * `repository` of package.json is not an address of a host.
 */
export function repositoryAddress() {
  const { repository } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));
  const url = typeof repository === "string" ? repository : repository?.url;
  const found = /^(?:git\+)?(https:\/\/[^\s<>]+?)(?:\.git)?$/.exec(url ?? "");
  return found === null ? undefined : `${found[1]}/blob/main`;
}
