// Checks the types of one program in a separate process and prints the cost as JSON. Its arguments
// are a file with the paths as JSON, and the path to check if not all are checked.
import { readFileSync } from "node:fs";
import { createJiti } from "jiti";

const { checkTypes } = await createJiti(import.meta.url).import("./types/check-types.ts");
const [paths, only] = process.argv.slice(2);
console.log(JSON.stringify(checkTypes(JSON.parse(readFileSync(paths, "utf8")), only)));
