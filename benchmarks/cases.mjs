// What is measured. A case is an operation on one input, and says what its result must be.
import assert from "node:assert/strict";
import {
  authorCount,
  colorCount,
  colorOf,
  idOf,
  listedEntries,
  postOf,
  totalsOf,
  userOf,
  usersPerColor,
} from "./rows.mjs";
import { shopCases } from "./shop-cases.mjs";

const pageSize = 20;
const parents = 20;
const inFlight = 64;
const manyRows = 10_000;

/** Returns the page that ends before a position, after all pages before it. */
async function pageBefore(store, position) {
  let page = await store.firstPage(Math.min(manyRows, position));
  for (let at = manyRows; at < position; at += manyRows)
    page = await store.page(Math.min(manyRows, position - at), page);
  return page;
}

/**
 * - `needs`: the method that a store must have.
 * - `isWide`: the store must have the indexes of lists.
 * - `hasOrders`: the store must have orders.
 * - `hasShop`: the store must have customers with their purchases.
 * - `isWrite`: only stores with the same durability are compared.
 * - `input`: makes the input of one operation, which is not measured.
 * - `isFixed`: each round makes `perRound` operations, after `prepare`.
 * - `verify`: throws if the operation has a wrong result.
 */
export const cases = [
  {
    name: "byId",
    title: "get by id",
    needs: "byId",
    input: (c) => idOf(c.random(c.count)),
    run: (store, id) => store.byId(id),
    verify: async (store, c) => same(await store.byId(idOf(5)), userOf(5, c.count)),
  },
  {
    name: "byEmail",
    title: "get by unique index",
    needs: "byEmail",
    input: (c) => userOf(c.random(c.count), c.count).email,
    run: (store, email) => store.byEmail(email),
    verify: async (store, c) => {
      const user = userOf(7, c.count);
      same(await store.byEmail(user.email), user);
    },
  },
  {
    name: "byColor",
    title: `${usersPerColor} rows by index`,
    needs: "byColor",
    perCall: 5,
    input: (c) => colorOf(c.random(colorCount(c.count)), c.count),
    run: (store, color) => store.byColor(color),
    verify: async (store, c) => sameSet(await store.byColor("color-0"), usersOfColor(c)),
  },
  {
    name: "covered",
    title: `${usersPerColor} rows by covering index`,
    needs: "covered",
    isWide: true,
    perCall: 5,
    input: (c) => colorOf(c.random(colorCount(c.count)), c.count),
    run: (store, color) => store.covered(color),
    verify: async (store, c) => {
      const shown = usersOfColor(c).map(({ id, name, email, favoriteColor }) => {
        return { id, name, email, favoriteColor };
      });
      sameSet(await store.covered("color-0"), shown);
    },
  },
  {
    name: "copied",
    title: `${usersPerColor} rows by copies in an index`,
    needs: "copied",
    isWide: true,
    perCall: 5,
    input: (c) => colorOf(c.random(colorCount(c.count)), c.count),
    run: (store, color) => store.copied(color),
    verify: async (store, c) => sameSet(await store.copied("color-0"), usersOfColor(c)),
  },
  {
    name: "page",
    title: `a page of ${pageSize} rows in the middle`,
    needs: "page",
    perCall: 20,
    setUp: (store, c) => pageBefore(store, Math.ceil(c.count / 2)),
    input: (_c, before) => before,
    run: (store, before) => store.page(pageSize, before),
    verify: async (store, c) => {
      const middle = Math.ceil(c.count / 2);
      const items = store.itemsOf(await store.page(pageSize, await pageBefore(store, middle)));
      same(
        items,
        Array.from({ length: pageSize }, (_, i) => userOf(middle + i, c.count)),
      );
    },
  },
  {
    name: "withPosts",
    title: `${parents} rows with 10 children each`,
    needs: "withPosts",
    perCall: 5,
    input: (c) => idOf(c.random(authorCount(c.count) - parents)),
    run: (store, from) => store.withPosts(from, parents),
    verify: async (store, c) => {
      const found = await store.withPosts(idOf(3), parents);
      const expected = Array.from({ length: parents }, (_, i) => ({
        ...userOf(3 + i, c.count),
        posts: Array.from({ length: 10 }, (_, n) => postOf(3 + i, n)),
      }));
      for (const { posts } of found) posts.sort((a, b) => (a.id < b.id ? -1 : 1));
      same(found, expected);
    },
  },
  {
    name: "count",
    title: `count of ${usersPerColor} rows`,
    needs: "count",
    isWide: true,
    input: (c) => colorOf(c.random(colorCount(c.count)), c.count),
    run: (store, color) => store.count(color),
    verify: async (store, c) => assert.equal(await store.count("color-0"), usersOfColor(c).length),
  },
  {
    name: "totals",
    title: "count and sum of each month of a customer",
    needs: "totals",
    hasOrders: true,
    perCall: 20,
    input: (c) => `customer-${c.random(Math.min(100, c.count))}`,
    run: (store, customer) => store.totals(customer),
    verify: async (store, c) =>
      same(await store.totals("customer-5"), totalsOf("customer-5", c.count)),
  },
  {
    name: "entries",
    title: `a list of ${listedEntries.toLocaleString("en")} entries of the store`,
    needs: "entries",
    perCall: 5,
    input: (c) => idOf(c.random(Math.max(1, c.count - listedEntries))),
    run: (store, id) => store.entries(id),
    verify: async (store, c) => {
      const first = Math.max(0, c.count - listedEntries);
      const users = Array.from({ length: c.count - first }, (_, i) => userOf(first + i, c.count));
      same(await store.entries(idOf(first)), users);
    },
  },
  {
    name: "create",
    title: "create",
    needs: "create",
    isWrite: true,
    perCall: 50,
    input: (c) => c.freshUser(),
    run: (store, user) => store.create(user),
    verify: async (store, c) => await verifyWritten(store, c, (user) => store.create(user)),
  },
  {
    name: "createWithPosts",
    title: "create with 10 children, in one commit",
    needs: "createWithPosts",
    isWrite: true,
    perCall: 20,
    input: (c) => c.freshUserWithPosts(),
    run: (store, [user, posts]) => store.createWithPosts(user, posts),
    verify: async (store, c) => {
      const [user, posts] = c.freshUserWithPosts();
      await store.createWithPosts(user, posts);
      same(await store.byId(user.id), user);
      const [found] = await store.withPosts(user.id, 1);
      sameSet(
        found.posts,
        posts.map((post) => ({ ...post, authorId: user.id })),
      );
    },
  },
  {
    name: "createTogether",
    title: `create, ${inFlight} in flight`,
    needs: "create",
    isWrite: true,
    perCall: inFlight * 8,
    inFlight,
    input: (c) => c.freshUser(),
    run: (store, user) => store.create(user),
    verify: async () => undefined,
  },
  {
    name: "createMany",
    title: `createMany of ${manyRows.toLocaleString("en")}, per row`,
    needs: "createMany",
    isWrite: true,
    isFixed: true,
    perRound: 1,
    rowsOfOperation: manyRows,
    input: (c) => Array.from({ length: manyRows }, () => c.freshUser()),
    run: (store, users) => store.createMany(users),
    verify: async (store, c) => await verifyWritten(store, c, (user) => store.createMany([user])),
  },
  {
    name: "changeColor",
    title: "update of an indexed field",
    needs: "changeColor",
    isWrite: true,
    perCall: 50,
    input: (c) => [idOf(c.random(c.count)), `other-${c.random(1_000_000)}`],
    run: (store, [id, color]) => store.changeColor(id, color),
    verify: async (store, c) => {
      await store.changeColor(idOf(9), "another");
      same(await store.byColor("another"), [{ ...userOf(9, c.count), favoriteColor: "another" }]);
      await store.changeColor(idOf(9), userOf(9, c.count).favoriteColor);
      same(await store.byId(idOf(9)), userOf(9, c.count));
    },
  },
  {
    name: "changeAge",
    title: "update of another field",
    needs: "changeAge",
    isWrite: true,
    perCall: 50,
    input: (c) => [idOf(c.random(c.count)), c.random(100)],
    run: (store, [id, age]) => store.changeAge(id, age),
    verify: async (store) => {
      const before = await store.byId(idOf(11));
      await store.changeAge(idOf(11), 99);
      same(await store.byId(idOf(11)), { ...before, age: 99 });
    },
  },
  {
    name: "upsert",
    title: "upsert, half of them new",
    needs: "upsert",
    isWrite: true,
    perCall: 50,
    input: (c) => (c.random(2) === 0 ? c.freshUser() : userOf(c.random(c.count), c.count)),
    run: (store, user) => store.upsert(user),
    verify: async (store, c) => {
      await verifyWritten(store, c, (user) => store.upsert(user));
      await store.upsert({ ...userOf(13, c.count), age: 98 });
      assert.equal((await store.byId(idOf(13))).age, 98);
    },
  },
  {
    name: "remove",
    title: "delete",
    needs: "remove",
    isWrite: true,
    isFixed: true,
    perRound: 200,
    prepare: async (store, c, n) => {
      const users = Array.from({ length: n }, () => c.freshUser());
      await store.createMany(users);
      return users.map(({ id }) => id);
    },
    run: (store, id) => store.remove(id),
    verify: async (store, c) => {
      const user = c.freshUser();
      await store.create(user);
      await store.remove(user.id);
      assert.ok(!(await store.byId(user.id)));
    },
  },
  {
    name: "transaction",
    title: "a transaction over two models",
    needs: "transaction",
    isWrite: true,
    perCall: 50,
    input: (c) => [idOf(c.random(c.count)), c.random(100), c.freshPost()],
    run: (store, [id, age, post]) => store.transaction(id, age, post),
    verify: async (store, c) => {
      await store.transaction(idOf(15), 97, c.freshPost());
      assert.equal((await store.byId(idOf(15))).age, 97);
    },
  },
  ...shopCases,
];

/** The state of a store: how many users it was loaded with, and which rows come next. */
export class CaseContext {
  count;
  #next;
  #posts = 0;
  #sequence;

  constructor(count, sequence) {
    this.count = count;
    this.#next = count;
    this.#sequence = sequence;
  }

  random(end) {
    return this.#sequence.below(end);
  }

  freshUser() {
    const number = this.#next++;
    return { ...userOf(number, this.count), favoriteColor: `fresh-${number % 1000}` };
  }

  /** A new user, and ten posts without their author. */
  freshUserWithPosts() {
    const posts = Array.from({ length: 10 }, () => {
      const { authorId: _, ...post } = this.freshPost();
      return post;
    });
    return [this.freshUser(), posts];
  }

  freshPost() {
    const author = this.random(this.count);
    return { ...postOf(author, 0), id: `fresh-${this.#posts++}` };
  }
}

function usersOfColor({ count }) {
  return Array.from({ length: count }, (_, i) => i)
    .filter((i) => i % colorCount(count) === 0)
    .map((i) => userOf(i, count));
}

async function verifyWritten(store, c, write) {
  const user = c.freshUser();
  await write(user);
  same(await store.byId(user.id), user);
}

function same(found, expected) {
  assert.deepEqual(plain(found), plain(expected));
}

function sameSet(found, expected) {
  const byId = (a, b) => (a.id < b.id ? -1 : 1);
  same([...found].sort(byId), [...expected].sort(byId));
}

/** Without the prototypes of the contenders' rows. */
function plain(value) {
  return JSON.parse(JSON.stringify(value));
}
