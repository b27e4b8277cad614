import { revalidatePath } from "next/cache";
import { database } from "../lib/database.js";

// Otherwise `next build` reads the rows, once.
export const dynamic = "force-dynamic";

async function addUser(form) {
  "use server";
  const db = await database();
  await db.users.create({ data: { name: form.get("name"), email: form.get("email") } });
  revalidatePath("/");
}

export default async function Page() {
  const db = await database();
  const { items } = await db.users.findMany({ orderBy: { id: "asc" }, take: 20 });
  return (
    <main>
      <ul>
        {items.map((user) => (
          <li key={user.id}>{user.name}</li>
        ))}
      </ul>
      <form action={addUser}>
        <input name="name" required />
        <input name="email" type="email" required />
        <button type="submit">Add</button>
      </form>
    </main>
  );
}
