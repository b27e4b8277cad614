export interface PlainCustomer {
  id: string;
  email: string;
  score: number;
  isDeleted: boolean;
}
export interface PlainOrder {
  id: string;
  customerId: string | null;
  state: "open" | "done";
  amount: number;
  isDeleted: boolean;
}
interface State {
  customers: Map<string, PlainCustomer>;
  orders: Map<string, PlainOrder>;
  /** Profile → customer. */
  profiles: Map<string, string | null>;
  /** Tag → whether it is deleted. */
  tags: Map<string, boolean>;
  /** Customer and tag → whether the row between is deleted. */
  links: Map<string, boolean>;
  /** What the hooks have recorded. */
  audit: string[];
}

class Refused extends Error {}
const refuse = (code: string): never => {
  throw new Refused(code);
};
export const taken = () => refuse("KW_UNIQUE_CONSTRAINT");
export const notFound = () => refuse("KW_ROW_NOT_FOUND");
const missing = () => refuse("KW_REFERENCE_MISSING");

const byId = <T extends { id: string }>(a: T, b: T) => (a.id < b.id ? -1 : 1);

/** The rows of one tenant in plain maps. Methods throw `Refused` for what must be refused. */
export class PlainTenant {
  state: State = {
    customers: new Map(),
    orders: new Map(),
    profiles: new Map(),
    tags: new Map(),
    links: new Map(),
    audit: [],
  };

  /** Runs a change. What is refused changes nothing, and returns its code. */
  run(change: () => unknown): unknown {
    const before = structuredClone(this.state);
    try {
      change();
      return "ok";
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      this.state = before;
      return error.message;
    }
  }

  customer(id: string): PlainCustomer | undefined {
    const row = this.state.customers.get(id);
    return row?.isDeleted ? undefined : row;
  }

  order(id: string): PlainOrder | undefined {
    const row = this.state.orders.get(id);
    return row?.isDeleted ? undefined : row;
  }

  hasTag = (name: string) => this.state.tags.get(name) === false;
  hasEmail = (email: string) => this.customers().some((each) => each.email === email);

  /** In the order of the score. */
  customers(): PlainCustomer[] {
    const live = [...this.state.customers.values()].filter((each) => !each.isDeleted);
    return live.sort((a, b) => a.score - b.score || byId(a, b));
  }

  orders(): PlainOrder[] {
    return [...this.state.orders.values()].filter((each) => !each.isDeleted).sort(byId);
  }

  ordersOf = (id: string) => this.orders().filter((each) => each.customerId === id);
  tagsOf = (id: string) =>
    [...this.state.links].flatMap(([key, isDeleted]) =>
      isDeleted || !key.startsWith(`${id}|`) ? [] : [key.slice(id.length + 1)],
    );

  createCustomer(id: string, email: string, score: number): void {
    if (this.state.customers.has(id) || this.hasEmail(email)) taken();
    this.state.customers.set(id, { id, email, score, isDeleted: false });
    this.state.audit.push(`create ${id}`);
  }

  deleteCustomer(id: string): void {
    const row = this.customer(id) ?? notFound();
    row.isDeleted = true;
    for (const order of this.ordersOf(id)) this.deleteOrder(order.id);
    for (const key of this.state.links.keys())
      if (key.startsWith(`${id}|`)) this.state.links.set(key, true);
    this.state.audit.push(`delete ${id}`);
  }

  restoreCustomer(id: string): void {
    const row = this.state.customers.get(id) ?? notFound();
    if (row.isDeleted && this.hasEmail(row.email)) taken();
    row.isDeleted = false;
  }

  purgeCustomer(id: string): void {
    if (!this.state.customers.get(id)?.isDeleted) notFound();
    this.state.customers.delete(id);
    for (const [profile, owner] of this.state.profiles)
      if (owner === id) this.state.profiles.set(profile, null);
  }

  createOrder(id: string, customerId: string | null, amount: number): void {
    if (customerId !== null && this.customer(customerId) === undefined) missing();
    if (this.state.orders.has(id)) taken();
    this.state.orders.set(id, { id, customerId, state: "open", amount, isDeleted: false });
  }

  deleteOrder(id: string): void {
    const row = this.order(id) ?? notFound();
    row.isDeleted = true;
    this.state.audit.push(`delete ${id}`);
  }

  restoreOrder(id: string): void {
    const row = this.state.orders.get(id) ?? notFound();
    if (row.isDeleted && row.customerId !== null && !this.customer(row.customerId)) missing();
    row.isDeleted = false;
  }

  /** An order that belongs to a customer. */
  own(customerId: string, id: string): PlainOrder | undefined {
    const row = this.order(id);
    return row?.customerId === customerId ? row : undefined;
  }

  createTag(name: string): void {
    if (this.state.tags.has(name)) taken();
    this.state.tags.set(name, false);
  }

  deleteTag(name: string): void {
    if (!this.hasTag(name)) notFound();
    this.state.tags.set(name, true);
    for (const key of this.state.links.keys())
      if (key.endsWith(`|${name}`)) this.state.links.set(key, true);
  }

  restoreTag(name: string): void {
    if (!this.state.tags.has(name)) notFound();
    this.state.tags.set(name, false);
  }

  link(customerId: string, tag: string): void {
    if (!this.hasTag(tag)) notFound();
    this.state.links.set(`${customerId}|${tag}`, false);
  }

  unlink(customerId: string, tag: string): void {
    const key = `${customerId}|${tag}`;
    if (this.state.links.has(key)) this.state.links.set(key, true);
  }
}
