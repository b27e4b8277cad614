import { pointsOf } from "./models.mjs";

/**
 * The rows that clients have written, as far as they were told. A call whose end was not seen may
 * have happened or not, but not in part.
 */
export class ExpectedRows {
  /** Calls that have ended. */
  done = 0;
  /** The points and the posts of each user, by client and id. */
  #users = new Map();
  #transfers = new Set();
  /** The call of each client whose end was not seen. */
  #open = new Map();

  /** Returns the ids of the users of each client. */
  get users() {
    return Object.fromEntries([...this.#users].map(([client, own]) => [client, [...own.keys()]]));
  }

  /** True if the end of each call was seen. */
  get isSettled() {
    return this.#open.size === 0;
  }

  /** Notes a line that a process has printed. The last line may be incomplete. */
  note(line) {
    const client = /^done (\d+)$/.exec(line)?.[1];
    if (client === undefined) {
      if (line.startsWith("{") && line.endsWith("}")) this.begin(JSON.parse(line));
      return;
    }
    this.end(Number(client));
  }

  /** Notes that a client makes a call. Its `client`, `type` and arguments are properties. */
  begin(call) {
    this.#open.set(call.client, call);
  }

  /** Notes that the call of a client was acknowledged. */
  end(client) {
    const call = this.#open.get(client);
    this.#open.delete(client);
    this.#apply(call);
    this.done++;
  }

  /**
   * Compares the stored rows with the expected ones. Accepts or rejects each open call as a whole,
   * and returns what is wrong in words.
   */
  settle(stored) {
    for (const call of this.#open.values()) if (hasHappened(call, stored)) this.#apply(call);
    this.#open.clear();
    return [...this.#problemsOfUsers(stored), ...this.#problemsOfTransfers(stored)];
  }

  #apply({ client, type, id, points, authorId }) {
    const own = this.#users.get(client) ?? new Map();
    this.#users.set(client, own);
    if (type === "create") own.set(id, { points, posts: new Set() });
    if (type === "update") own.get(id).points = points;
    if (type === "post") own.get(authorId).posts.add(id);
    if (type === "delete") own.delete(id);
    if (type === "transfer") this.#transfers.add(id);
  }

  #problemsOfUsers({ users, posts }) {
    const problems = [];
    const expectedUsers = new Map([...this.#users.values()].flatMap((own) => [...own]));
    const expectedPosts = new Map();
    for (const [id, user] of expectedUsers)
      for (const post of user.posts) expectedPosts.set(post, id);
    for (const [id, { points }] of expectedUsers) {
      const row = users.get(id);
      if (row === undefined) problems.push(`lost: user ${id}`);
      else if (pointsOf(row) !== points) problems.push(`lost: an update of user ${id}`);
    }
    for (const [id, author] of expectedPosts)
      if (posts.get(id)?.authorId !== author) problems.push(`lost: post ${id}`);
    for (const id of users.keys())
      if (!expectedUsers.has(id)) problems.push(`half: user ${id} is there`);
    for (const id of posts.keys())
      if (!expectedPosts.has(id)) problems.push(`half: post ${id} is there`);
    return problems;
  }

  /** The balances of the accounts must be the sums of the transfers that are stored. */
  #problemsOfTransfers({ accounts, transfers }) {
    const problems = [];
    const balances = new Map([...accounts.keys()].map((id) => [id, 0]));
    for (const { from, to, amount } of transfers.values()) {
      balances.set(from, (balances.get(from) ?? 0) - amount);
      balances.set(to, (balances.get(to) ?? 0) + amount);
    }
    for (const [id, balance] of balances)
      if (accounts.get(id)?.balance !== balance) problems.push(`half: the balance of ${id}`);
    for (const id of this.#transfers) if (!transfers.has(id)) problems.push(`lost: transfer ${id}`);
    for (const id of transfers.keys())
      if (!this.#transfers.has(id)) problems.push(`half: transfer ${id} is there`);
    return problems;
  }
}

function hasHappened({ type, id, points }, { users, posts, transfers }) {
  if (type === "create") return users.has(id);
  if (type === "update") return users.has(id) && pointsOf(users.get(id)) === points;
  if (type === "post") return posts.has(id);
  if (type === "delete") return !users.has(id);
  return transfers.has(id);
}
