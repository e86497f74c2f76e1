import { type Kysely, sql } from 'kysely'
import type { Tables } from './tables.ts'

/**
 * Writes items within a transaction. If the database refuses them, halves them until it has found each that is wrong.
 * The halves are written one after the other, so an item may be refused for a value that a later one would have freed.
 * @param reasonOf why the database refuses items, or undefined for an error that has another cause
 * @param refuse called with each item that is wrong; may throw to stop
 */
export async function writeInHalves<Item, Reason>(
  db: Kysely<Tables>,
  items: readonly Item[],
  write: (items: readonly Item[]) => Promise<void>,
  reasonOf: (error: unknown) => Reason | undefined,
  refuse: (item: Item, reason: Reason) => void,
): Promise<void> {
  const [first] = items
  if (first === undefined) return
  // A failed statement would end the transaction.
  await sql`savepoint items`.execute(db)
  try {
    await write(items)
    await sql`release savepoint items`.execute(db)
  } catch (error) {
    const reason = reasonOf(error)
    // After a lost connection, a ROLLBACK would fail, too, and hide why.
    if (reason === undefined) throw error
    await sql`rollback to savepoint items`.execute(db)
    // A savepoint for each of many refused items would take hundreds of megabytes of the server.
    await sql`release savepoint items`.execute(db)
    if (items.length === 1) return refuse(first, reason)
    const half = Math.ceil(items.length / 2)
    await writeInHalves(db, items.slice(0, half), write, reasonOf, refuse)
    await writeInHalves(db, items.slice(half), write, reasonOf, refuse)
  }
}
