// `npm run layers` fails if a room of rooms.mjs has no folder, or if CONTRIBUTING.md does not show
// rooms.mjs as it is. `npm run rooms:update` writes the list of CONTRIBUTING.md.
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { otherFolders, packages } from "../rooms.mjs";

const root = fileURLToPath(new URL("..", import.meta.url));
const page = `${root}CONTRIBUTING.md`;
const isUpdate = process.argv.includes("--update");

const problems = [];
for (const [name, { rooms, folders = {} }] of Object.entries(packages)) {
  for (const folder of [...Object.keys(rooms), ...Object.keys(folders)]) {
    if (existsSync(`${root}packages/${name}/src/${folder}`)) continue;
    problems.push(`rooms.mjs names packages/${name}/src/${folder}, which does not exist.`);
  }
  for (const folder of Object.keys(folders)) {
    if (roomOf(folder, rooms) !== undefined) continue;
    problems.push(`rooms.mjs names ${folder} under the folders of ${name}, but it is in no room.`);
  }
}

const text = readFileSync(page, "utf8");
const block = /(?<=^```text\n)packages\/core .*?(?=^```$)/ms;
if (!block.test(text)) problems.push("CONTRIBUTING.md has no list of rooms.");
const updated = text.replace(block, () => `${listOfRooms().join("\n")}\n`);
if (updated !== text) {
  if (isUpdate) writeFileSync(page, updated);
  else problems.push("CONTRIBUTING.md differs from rooms.mjs. Run `npm run rooms:update`.");
}

for (const problem of problems) console.error(problem);
if (problems.length > 0) process.exitCode = 1;

/** Returns the lines of the list: packages, their rooms, and below each room its folders. */
function listOfRooms() {
  const lines = [];
  for (const [name, { about, rooms, folders = {} }] of Object.entries(packages)) {
    lines.push(line(`packages/${name}`, about));
    for (const [room, text] of Object.entries(rooms)) {
      lines.push(line(`  ${room}`, text));
      for (const [folder, folderText] of Object.entries(folders)) {
        if (roomOf(folder, rooms) === room) lines.push(line(`    ${folder}`, folderText));
      }
    }
    lines.push("");
  }
  return [...lines, ...Object.entries(otherFolders).map(([name, text]) => line(name, text))];
}

function line(name, text) {
  return `${name.padEnd(25)} ${text}`;
}

/** Returns the innermost room that a folder is in. */
function roomOf(folder, rooms) {
  return Object.keys(rooms)
    .filter((room) => folder.startsWith(`${room}/`))
    .sort((a, b) => b.length - a.length)[0];
}
