/** Pages of others that cells refer to, with the day on which they were read. */
export const sources = {
  prismaIndexes: source(
    "https://prisma.io/docs/optimize/recommendations/queries-on-unindexed-columns",
  ),
  prismaMiddleware: source(
    "https://www.prisma.io/docs/reference/tools-and-interfaces/prisma-client/middleware/",
  ),
  prismaTransactions: source(
    "https://skills.sh/prisma/cursor-plugin/prisma-client-api-transactions",
  ),
  prismaLive: source("https://github.com/prisma/prisma/discussions/24145"),
  drizzleQueries: source("https://orm.drizzle.team/docs/mysql/rqb"),
  drizzleKit: source("https://orm.drizzle.team/kit-docs"),
  drizzleGenerate: source("https://orm.drizzle.team/docs/drizzle-kit-generate"),
  denoIndexes: source("https://docs.deno.com/deploy/kv/secondary_indexes"),
  denoTransactions: source("https://docs.deno.com/kv/manual/transactions"),
  denoLimits: source("https://docs.rs/crate/denokv_proto/0.8.4/source/limits.rs"),
  denoStart: source("https://docs.deno.com/kv"),
  kvdex: source(
    "https://github.com/oliver-oloughlin/kvdex/blob/034d4ca81d78be4a9fa7a568faa5c27dba41191f/README.md",
  ),
};

function source(url) {
  return { url, read: "2026-11-27" };
}
