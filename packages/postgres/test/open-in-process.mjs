// A process of `unreachable.test.ts`: prints the code of the error, and ends if nothing is left
// open.
import { postgresEngine } from "../dist/index.js";

try {
  await postgresEngine({ connectionString: process.argv[2], deadline: 300 });
} catch (error) {
  console.log(error.code);
}
