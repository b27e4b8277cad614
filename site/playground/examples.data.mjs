import { examples } from "./examples.mjs";

// VitePress calls `load` when it builds the site, and gives the result to whoever imports `data`.
export default { watch: ["./examples/*"], load: () => examples() };
