// `node test/example-studio.mjs [users] [port]` starts a studio on example rows.
import { createJiti } from "jiti";

await createJiti(import.meta.url).import("./example-studio.ts");
