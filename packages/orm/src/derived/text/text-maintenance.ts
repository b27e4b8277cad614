import type { Maintenance } from "../maintenance.js";
import { textVerifier } from "./verify/text-verifier.js";

/**
 * Verifies and repairs text indexes. They are planned, built and removed as all indexes are: see
 * `entriesMaintenance`.
 */
export const textMaintenance: Maintenance = {
  name: "text",
  build: async () => true,
  verifier: textVerifier,
};
