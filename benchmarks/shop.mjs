// The rows of the cases about related rows: customers, 10 purchases of each of them, and labels.
const purchasesPerCustomer = 10;
const labels = 20;
const labelled = 1000;
export const batchSize = 1000;

/** Customers without purchases are rare. */
const isIdle = (customer) => customer % 25 === 7;

export function customerCount(count) {
  return Math.min(500, count);
}

export function customerIdOf(number) {
  return `customer-${String(number).padStart(6, "0")}`;
}

/** The names are in another order than the ids. */
function customerOf(number) {
  const name = `Customer ${String((number * 7919) % 10_007).padStart(5, "0")}`;
  return { id: customerIdOf(number), name, spent: 0 };
}

/** The purchases of a customer, with the number of the first one of the next customer. */
function purchasesOf(customer, first) {
  return Array.from({ length: isIdle(customer) ? 0 : purchasesPerCustomer }, (_, n) => ({
    id: `purchase-${String(first + n).padStart(6, "0")}`,
    customerId: customerIdOf(customer),
    status: (customer * 7 + n) % 50 === 0 ? "open" : "paid",
    batch: Math.floor((first + n) / batchSize),
    stage: 0,
    cents: ((first + n) * 37) % 10_000,
  }));
}

/** All rows of a shop in the order of their ids. */
export function shopOf(count) {
  const customers = Array.from({ length: customerCount(count) }, (_, i) => customerOf(i));
  const purchases = [];
  for (const number of customers.keys()) purchases.push(...purchasesOf(number, purchases.length));
  const purchaseLabels = purchases.slice(0, labelled).flatMap(({ id }, i) => {
    const two = [i % labels, (i * 7 + 3) % labels];
    return [...new Set(two)].map((label) => ({ purchaseId: id, labelId: labelIdOf(label) }));
  });
  return { customers, purchases, labels: Array.from({ length: labels }, labelOf), purchaseLabels };
}

function labelIdOf(number) {
  return `label-${String(number).padStart(2, "0")}`;
}

function labelOf(_, number) {
  return { id: labelIdOf(number), name: `Label ${number}` };
}
