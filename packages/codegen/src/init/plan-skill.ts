import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { ProjectFileError } from "../errors/codegen-errors.js";
import type { PlannedFile } from "./plan-files.js";

/** The file of the package that is copied into projects. */
const source = new URL("../../skill/SKILL.md", import.meta.url);

/** Returns the folder of instructions for coding agents, relative to the project's folder. */
export function skillFolder(folder: string): string {
  // Claude Code reads no other folder. Other agents read the common one.
  const parent = existsSync(join(folder, ".claude")) ? ".claude" : ".agents";
  return `${parent}/skills/keywright`;
}

/** Plans the instructions for coding agents. An existing file stays, because it may be edited. */
export async function planSkill(folder: string): Promise<PlannedFile[]> {
  const path = join(folder, skillFolder(folder), "SKILL.md");
  if (existsSync(path)) return [];
  try {
    return [{ path, state: "created", text: await readFile(source, "utf8") }];
  } catch (error) {
    throw new ProjectFileError({ path: source.pathname }, error);
  }
}
