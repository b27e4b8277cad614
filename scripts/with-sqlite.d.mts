/** Returns the path of a Node.js that has SQLite. */
export function nodeWithSqlite(): string;
