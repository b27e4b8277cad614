// Checks the types of one program, in a process of its own, and prints what that cost as JSON. Its arguments: a file with the
// paths as JSON, and the one to check where it is not all of them.
import { readFileSync } from "node:fs";
import { createJiti } from "jiti";

const { checkTypes } = await createJiti(import.meta.url).import("./types/check-types.ts");
const [paths, only] = process.argv.slice(2);
console.log(JSON.stringify(checkTypes(JSON.parse(readFileSync(paths, "utf8")), only)));
