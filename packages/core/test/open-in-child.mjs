// Opens the database at a path in a process of its own and says what came of it, as JSON.
import { openKv } from "../dist/index.js";

const [path] = process.argv.slice(2);
try {
  const kv = await openKv(path);
  const { value } = await kv.get(["a"]);
  await kv.close();
  console.log(JSON.stringify({ value }));
} catch ({ name, code, retryable, path }) {
  console.log(JSON.stringify({ name, code, retryable, path }));
}
