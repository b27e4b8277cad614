// Carries out a Dockerfile without Docker: each stage has a root of its own, in a mount namespace
// of Linux, with the programs of this machine in place of the base image.
import { execFile } from "node:child_process";
import { chown, cp, mkdir, readFile, stat, writeFile } from "node:fs/promises";
import { basename, join } from "node:path";
import { promisify } from "node:util";
import { DockerfileParser } from "dockerfile-ast";
import { validate } from "dockerfile-utils";
import { checkStatus, requests, withServer } from "./server.mjs";

const execute = promisify(execFile);
/** The user `node` of the images of Node.js. */
const uid = 1000;
const users = { passwd: `node:x:${uid}:${uid}::/:/bin/sh`, group: `node:x:${uid}:` };

/**
 * Builds the stages, and runs the command of the last one as its user, on a root that is read-only
 * except for the volume.
 */
export async function checkDocker({ folder, cwd, env }) {
  const text = await readFile(join(cwd, "Dockerfile"), "utf8");
  const [problem] = validate(text);
  if (problem !== undefined) throw new Error(`Dockerfile: ${problem.message}`);
  if (process.platform !== "linux" || process.getuid() !== 0)
    return "only the form of the Dockerfile, because the rest needs root on Linux";

  await execute("npm", ["install", "--package-lock-only", "--no-audit", "--no-fund"], { cwd, env });
  const npm = async (key) => (await execute("npm", ["config", "get", key], { cwd })).stdout.trim();
  const registry = await npm("registry");
  const shared = [join(folder, "packed"), await npm("cache")];
  for (const name of ["passwd", "group"])
    await writeFile(
      join(folder, name),
      `${await readFile(`/etc/${name}`, "utf8")}${users[name]}\n`,
    );
  const stages = [];
  for (const from of DockerfileParser.parse(text).getInstructions()) {
    if (from.getKeyword() === "FROM") {
      const [, , name] = from.getArguments().map(String);
      const root = join(folder, `stage-${stages.length}`);
      await mkdir(root);
      stages.push({ name, root, workdir: "/", env: {}, user: 0, volumes: [] });
    } else await carryOut(from, stages, { context: cwd, folder, registry, shared });
  }
  const image = stages.at(-1);
  const volume = join(folder, "docker-volume");
  // Docker fills a new volume with what the image has there.
  await cp(join(image.root, image.volumes[0]), volume, { recursive: true });
  await chown(volume, uid, uid);
  const [touch, ...path] = inNamespace(image, ["touch", "/app/file"], { folder, volume });
  if (await execute(touch, path).then(Boolean, () => false))
    throw new Error("the root is writable");
  const [program, ...words] = inNamespace(image, image.command, { folder, volume });
  const container = { program, args: words, cwd: folder, env: { ...env, ...image.env } };
  await withServer(container, async (url) => {
    for (const [body, expected] of requests) await checkStatus(url, body, expected);
  });
  await withServer(container, (url) => checkStatus(url, requests[0][0], 409));
  return `carried out by Node.js ${process.versions.node}, without Docker and its base image`;
}

async function carryOut(instruction, stages, { context, folder, registry, shared }) {
  const stage = stages.at(-1);
  const words = instruction.getArguments().map((argument) => argument.getValue());
  const rest = instruction.getRawArgumentsContent();
  const keyword = instruction.getKeyword();
  if (keyword === "WORKDIR") {
    stage.workdir = words[0];
    await mkdir(join(stage.root, stage.workdir), { recursive: true });
  } else if (keyword === "ENV")
    for (const word of words) stage.env[word.split("=")[0]] = word.slice(word.indexOf("=") + 1);
  else if (keyword === "USER") stage.user = uid;
  else if (keyword === "VOLUME") stage.volumes.push(words[0]);
  else if (keyword === "CMD") stage.command = JSON.parse(rest);
  else if (keyword === "COPY") await copy(instruction, words, stages, context);
  else if (keyword === "RUN") {
    const [program, ...args] = inNamespace(stage, ["sh", "-ec", rest], { folder, shared });
    const own = { ...process.env, ...stage.env, HOME: "/tmp" };
    Object.assign(own, { npm_config_registry: registry, npm_config_cache: shared[1] });
    await execute(program, args, { env: own, maxBuffer: 2 ** 26 });
  } else throw new Error(`The check does not know ${keyword}.`);
}

async function copy(instruction, words, stages, context) {
  const stage = stages.at(-1);
  const [flag] = instruction.getFlags();
  const from = stages.find(({ name }) => name === flag?.getValue());
  const source = (path) => (from === undefined ? join(context, path) : join(from.root, path));
  const ignored = (await readFile(join(context, ".dockerignore"), "utf8")).trim().split("\n");
  const to = join(stage.root, stage.workdir, words.at(-1));
  const filter = (file) =>
    from !== undefined || !ignored.some((name) => file === join(context, name));
  for (const path of words.slice(0, -1)) {
    const file = source(path);
    const isInto = words.at(-1).endsWith("/") && (await stat(file)).isFile();
    await cp(file, isInto ? join(to, basename(file)) : to, { recursive: true, filter });
  }
}

/**
 * Returns a command that runs another one in the root of a stage. With a volume, the root is
 * read-only, and the command runs as the user of the stage.
 */
function inNamespace({ root, workdir, user, volumes }, command, { folder, volume, shared = [] }) {
  const binds = shared.map((path) => `mkdir -p ".${path}"; mount --bind "${path}" ".${path}"`);
  const script = `
    root=$1 workdir=$2; shift 2
    cd "$root"
    mount --bind "$root" "$root"; cd "$root"
    mkdir -p usr etc proc dev tmp
    for name in bin sbin lib lib64; do [ -L $name ] || ln -s usr/$name $name; done
    for name in usr etc proc dev; do mount --rbind /$name $name; done
    for name in passwd group; do mount --bind "${folder}/$name" etc/$name; done
    mount -o remount,bind,ro usr
    ${binds.join("\n")}
    ${volume === undefined ? "" : `mount --bind "${volume}" ".${volumes[0]}"; mount -o remount,bind,ro "$root"`}
    exec chroot "$root" setpriv --reuid ${user} --regid ${user} --clear-groups sh -c 'cd "$0"; exec "$@"' "$workdir" "$@"`;
  return ["unshare", "--mount", "sh", "-ec", script, "sh", root, workdir, ...command];
}
