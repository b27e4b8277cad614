/** The largest sizes of what only the playground loads, in kB of 1,000 bytes, with gzip. */
export const budgets = { editor: 140, worker: 540 };
