/** Makes a call of the models. expected-rows.mjs knows the effect of each. */
export async function makeCall(db, schema, call) {
  await calls[call.type](db, schema, call);
}

const calls = {
  create: (db, schema, { id, points }) =>
    db.users.create({
      data: { id, email: `${id}@example.com`, team: teamOf(points), ...withPoints(schema, points) },
    }),
  update: (db, schema, { id, points }) => {
    const field = schema === "old" ? "points" : "score";
    return db.users.update({ where: { id }, data: { team: teamOf(points), [field]: points } });
  },
  post: (db, _schema, { id, authorId }) => db.posts.create({ data: { id, authorId } }),
  delete: (db, _schema, { id }) => db.users.delete({ where: { id } }),
  transfer: (db, _schema, { id, from, to, amount }) =>
    db.transaction(async (tx) => {
      await tx.accounts.upsert({
        where: { id: from },
        create: { id: from, balance: -amount },
        update: { balance: { increment: -amount } },
      });
      await tx.accounts.upsert({
        where: { id: to },
        create: { id: to, balance: amount },
        update: { balance: { increment: amount } },
      });
      await tx.transfers.create({ data: { id, from, to, amount } });
    }),
};

function teamOf(points) {
  return `team ${points % 5}`;
}

function withPoints(schema, points) {
  return schema === "old" ? { points } : { score: points, isActive: true };
}
