// Calls whose outcome in Deno KV is recorded in `deno-calls.json` (by `record-deno.mjs`) and
// compared with compat mode (by `deno-compat.test.ts`). Each call has its own empty database.
import { allCases } from "./deno-cases/case-list.mjs";
import "./deno-cases/keys.mjs";
import "./deno-cases/limits.mjs";
import "./deno-cases/list-arguments.mjs";
import "./deno-cases/list-cursors.mjs";
import "./deno-cases/random-lists.mjs";
import "./deno-cases/checks.mjs";
import "./deno-cases/numbers.mjs";
import "./deno-cases/values.mjs";
import "./deno-cases/web-values.mjs";
import "./deno-cases/messages.mjs";
import "./deno-cases/operations.mjs";
import "./deno-cases/reads.mjs";
import "./deno-cases/closing.mjs";
import "./deno-cases/inspections.mjs";
import "./deno-cases/opening.mjs";

export { denoContext } from "./deno-cases/deno-context.mjs";
export { outcomeOf } from "./deno-cases/outcome.mjs";

/** The cases by name: `given`, where there is one, is awaited, then `run` makes the call. */
export const denoCases = allCases();
