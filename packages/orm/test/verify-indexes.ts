export * from "../src/testing/expect-indexes.js";
