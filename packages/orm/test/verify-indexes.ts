export * from "../src/testing/verify-indexes.js";
