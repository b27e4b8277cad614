import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** The files in a folder and in its folders, as paths from it with slashes. */
export function filesIn(folder) {
  return readdirSync(folder, { recursive: true })
    .filter((file) => statSync(join(folder, file)).isFile())
    .map((file) => file.replaceAll("\\", "/"));
}
