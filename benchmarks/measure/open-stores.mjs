import { join } from "node:path";
import { CaseContext } from "../cases.mjs";
import { authorCount, orderOf, postOf, postsPerAuthor, Sequence, userOf } from "../rows.mjs";
import { shopOf } from "../shop.mjs";

const rowsAtOnce = 10_000;

/**
 * Opens a contender's store in a folder and fills it with `count` users, with their posts and the
 * indexes of lists if `isWide` and if it has such, as many orders if `hasOrders`, and a shop if
 * `hasShop`.
 */
export async function openStore(
  contender,
  folder,
  count,
  { isWide = true, hasOrders = true, hasShop = true } = {},
) {
  const store = await contender.open(join(folder, contender.name));
  for (let from = 0; from < count; from += rowsAtOnce) {
    const length = Math.min(rowsAtOnce, count - from);
    const users = Array.from({ length }, (_, i) => userOf(from + i, count));
    await store.load(users, from === 0 ? postsOf(Math.min(length, authorCount(count))) : []);
    if (isWide) await store.loadWide?.(users);
    if (hasOrders) await store.loadOrders?.(ordersOf(from, length));
  }
  if (hasShop) await store.loadShop?.(shopOf(count));
  return { contender, store, context: new CaseContext(count, new Sequence()) };
}

function ordersOf(from, length) {
  return Array.from({ length }, (_, i) => orderOf(from + i));
}

function postsOf(authors) {
  return Array.from({ length: authors }, (_, author) =>
    Array.from({ length: postsPerAuthor }, (_, n) => postOf(author, n)),
  ).flat();
}
