import { remedies } from "./remedies.mjs";

// VitePress calls `load` when it builds the site, and gives the result to whoever imports `data`.
export default { watch: ["../../docs/errors.md"], load: () => remedies() };
