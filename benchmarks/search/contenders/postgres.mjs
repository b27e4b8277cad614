// The full-text search of PostgreSQL, with a GIN index over both fields. Needs `--postgres`.
import pg from "pg";

export const title = "PostgreSQL";

export async function open(_, { hasIndex, url }) {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("DROP TABLE IF EXISTS search_docs");
  await client.query(
    `CREATE TABLE search_docs (id integer PRIMARY KEY, title text, body text${
      hasIndex
        ? `, words tsvector GENERATED ALWAYS AS (
             setweight(to_tsvector('english', title), 'A') ||
             setweight(to_tsvector('english', body), 'D')) STORED`
        : ""
    })`,
  );
  if (hasIndex) await client.query("CREATE INDEX ON search_docs USING gin (words)");
  const load = async (documents) => {
    const columns = ["id", "title", "body"].map((name) => documents.map((one) => one[name]));
    await client.query(
      `INSERT INTO search_docs (id, title, body)
       SELECT * FROM unnest($1::integer[], $2::text[], $3::text[])`,
      columns,
    );
  };
  return {
    load,
    create: (document) => load([document]),
    finish: () => client.query("VACUUM FULL ANALYZE search_docs"),
    bytes: async () => {
      const { rows } = await client.query("SELECT pg_total_relation_size('search_docs') AS bytes");
      return Number(rows[0].bytes);
    },
    canAnswer: ({ typo }) => typo === undefined,
    search: async ({ words, phrase, prefix }, take) => {
      const [make, text] =
        phrase !== undefined
          ? ["phraseto_tsquery", phrase.join(" ")]
          : prefix === undefined
            ? ["plainto_tsquery", words.join(" ")]
            : ["to_tsquery", `${prefix}:*`];
      const { rows } = await client.query(
        `SELECT id, title, body FROM search_docs, ${make}('english', $1) AS query
         WHERE words @@ query ORDER BY ts_rank(words, query) DESC, id LIMIT $2`,
        [text, take],
      );
      return rows.map(({ id }) => id);
    },
    close: async () => {
      await client.query("DROP TABLE search_docs");
      await client.end();
    },
  };
}
