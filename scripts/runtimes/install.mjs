import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { folder } from "./runtimes.mjs";

/**
 * Installs those of the runtimes that are missing, and returns each with the path of its program.
 */
export function installRuntimes(runtimes) {
  const missing = runtimes.filter((runtime) => !isInstalled(runtime));
  if (missing.length > 0) {
    console.log(`Installing ${missing.map(({ name }) => name).join(", ")} in ${folder}.`);
    mkdirSync(folder, { recursive: true });
    if (!existsSync(join(folder, "package.json")))
      writeFileSync(join(folder, "package.json"), '{ "private": true }\n');
    npmInstall(missing.map(({ install }) => install));
  }
  return runtimes.map((runtime) => {
    const program = runtime.findProgram();
    if (program === undefined) throw new Error(`npm installed no program for ${runtime.name}.`);
    return { ...runtime, program };
  });
}

/** True if the runtime is installed in the version that it should have. */
function isInstalled({ name, install, findProgram }) {
  const version = install.slice(install.lastIndexOf("@") + 1);
  try {
    const manifest = readFileSync(join(folder, "node_modules", name, "package.json"), "utf8");
    // One of the packages writes its version as `v18.20.8`.
    const found = JSON.parse(manifest).version.replace(/^v/, "");
    return found === version && findProgram() !== undefined;
  } catch {
    return false;
  }
}

function npmInstall(packages) {
  // The packages have scripts that move their programs. Without them each program stays in its
  // package.
  const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"];
  const options = { cwd: folder, stdio: "inherit", shell: process.platform === "win32" };
  const { status, error } = spawnSync("npm", [...args, ...packages], options);
  if (status !== 0) throw error ?? new Error(`npm install ended with ${status}.`);
}
