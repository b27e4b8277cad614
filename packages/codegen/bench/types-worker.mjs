// Checks the types of one program and prints the cost as JSON. Arguments: a JSON file with the
// paths of the program, and optionally the only path to check.
import { readFileSync } from "node:fs";
import { createJiti } from "jiti";

const { checkTypes } = await createJiti(import.meta.url).import("./types/check-types.ts");
const [paths, only] = process.argv.slice(2);
console.log(JSON.stringify(checkTypes(JSON.parse(readFileSync(paths, "utf8")), only)));
