import { defineConfig } from "@keywright/codegen";
import { openKv } from "@keywright/core";

const tenantId = ({ index }: { index: number }) => (index % 2 === 0 ? "tea" : "toys");

/** `npx keywright seed` fills a database for development with customers and products of two shops. */
export default defineConfig({
  models: "src/models/*.ts",
  output: "src/generated",
  database: () => openKv(process.env.SHOP_DATA ?? "data"),
  seed: {
    rows: { customers: 20, products: 30 },
    models: {
      customers: { tenantId },
      products: { tenantId, sold: 0, category: ({ faker }) => faker.commerce.department() },
    },
  },
});
