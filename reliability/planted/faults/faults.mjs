import { coreFaults } from "./core-faults.mjs";
import { ormFaults } from "./orm-faults.mjs";

/** The planted faults, by their names. */
export const faults = { ...coreFaults, ...ormFaults };
