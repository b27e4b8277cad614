/** A generator of numbers from 0 to 1, the same for the same seed. */
export function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state * 1_664_525 + 1_013_904_223) % 4_294_967_296;
    return state / 4_294_967_296;
  };
}

export function codeOf(error: unknown): unknown {
  const { code } = error as { readonly code?: unknown };
  if (code === undefined) throw error;
  return code;
}

const taken = "KW_UNIQUE_CONSTRAINT";
const notFound = "KW_ROW_NOT_FOUND";
const missing = "KW_REFERENCE_MISSING";

interface PlainUser {
  readonly id: string;
  email: string;
  score: number;
  isDeleted: boolean;
}
interface PlainPost {
  readonly id: string;
  authorId: string;
  isDeleted: boolean;
}

/** The users and posts of one tenant in plain maps, with the rules of soft delete. */
export class Tenant {
  readonly tenantId: string;
  users = new Map<string, PlainUser>();
  posts = new Map<string, PlainPost>();
  /** True if any tenant has a post with an id, deleted or not. */
  readonly #isTaken: (id: string) => boolean;

  constructor(tenantId: string, isTaken: (id: string) => boolean) {
    this.tenantId = tenantId;
    this.#isTaken = isTaken;
  }

  #user(id: string): PlainUser | undefined {
    const user = this.users.get(id);
    return user?.isDeleted ? undefined : user;
  }

  #post(id: string): PlainPost | undefined {
    const post = this.posts.get(id);
    return post?.isDeleted ? undefined : post;
  }

  #live(): PlainUser[] {
    const live = [...this.users.values()].filter((user) => !user.isDeleted);
    return live.sort((a, b) => (a.id < b.id ? -1 : 1));
  }

  idOfEmail(email: string): string {
    return this.#live().find((user) => user.email === email)?.id ?? "";
  }

  usersWith(score: number): string[] {
    return this.#live().flatMap((user) => (user.score === score ? [user.id] : []));
  }

  createUser(id: string, email: string, score: number): unknown {
    if (this.users.has(id) || this.idOfEmail(email) !== "") return taken;
    const user = { id, email, score, isDeleted: false };
    this.users.set(id, user);
    return user;
  }

  updateUser(id: string, change: { email?: string; score?: number }): unknown {
    const user = this.#user(id);
    if (user === undefined) return notFound;
    const owner = change.email === undefined ? "" : this.idOfEmail(change.email);
    if (owner !== "" && owner !== id) return taken;
    return Object.assign(user, change);
  }

  upsertUser(id: string, email: string, score: number): unknown {
    if (this.#user(id) !== undefined) return this.updateUser(id, { score });
    return this.createUser(id, email, score);
  }

  deleteUser(id: string): unknown {
    const user = this.#user(id);
    if (user === undefined) return notFound;
    user.isDeleted = true;
    for (const post of this.posts.values()) if (post.authorId === id) post.isDeleted = true;
    return user;
  }

  restoreUser(id: string): unknown {
    const user = this.users.get(id);
    if (user === undefined) return notFound;
    if (user.isDeleted && this.idOfEmail(user.email) !== "") return taken;
    user.isDeleted = false;
    return user;
  }

  purgeUser(id: string): unknown {
    if (!this.users.get(id)?.isDeleted) return notFound;
    this.users.delete(id);
    return {};
  }

  purgePosts(): number {
    const deleted = [...this.posts.values()].filter((post) => post.isDeleted);
    for (const { id } of deleted) this.posts.delete(id);
    return deleted.length;
  }

  createPost(id: string, authorId: string): unknown {
    if (this.#user(authorId) === undefined) return missing;
    if (this.#isTaken(id)) return taken;
    const post = { id, authorId, isDeleted: false };
    this.posts.set(id, post);
    return post;
  }

  movePost(id: string, authorId: string): unknown {
    const post = this.#post(id);
    if (post === undefined) return notFound;
    if (this.#user(authorId) === undefined) return missing;
    post.authorId = authorId;
    return post;
  }

  deletePost(id: string): unknown {
    const post = this.#post(id);
    if (post === undefined) return notFound;
    post.isDeleted = true;
    return post;
  }

  restorePost(id: string): unknown {
    const post = this.posts.get(id);
    if (post === undefined) return notFound;
    if (post.isDeleted && this.#user(post.authorId) === undefined) return missing;
    post.isDeleted = false;
    return post;
  }

  /** Runs steps as one: the first one that fails undoes those before it. */
  inTransaction(run: () => readonly unknown[]): unknown {
    const users = new Map([...this.users].map(([id, user]) => [id, { ...user }]));
    const posts = new Map([...this.posts].map(([id, post]) => [id, { ...post }]));
    const failed = run().find((result) => typeof result === "string");
    if (failed === undefined) return {};
    this.users = users;
    this.posts = posts;
    return failed;
  }

  /** Returns what the reads of the test return. */
  read(id: string, email: string, postId: string, score: number, authorId: string): unknown[] {
    const postsOf = (author: string) =>
      [...this.posts.values()]
        .filter((post) => !post.isDeleted && post.authorId === author)
        .map((post) => post.id)
        .sort();
    const user = this.#user(id);
    const owner = this.idOfEmail(email);
    const live = this.#live();
    return [
      user === undefined
        ? null
        : { score: user.score, posts: postsOf(id), count: postsOf(id).length },
      owner === "" ? null : owner,
      this.#post(postId)?.authorId ?? null,
      live.filter((each) => each.score >= score).map((each) => each.id),
      live.map((each) => each.id),
      this.users.size,
      live.length,
      postsOf(authorId).length,
      live.filter((each) => each.score === score).length * score,
    ];
  }
}
