import { randomUUID } from 'node:crypto'
import { openDatabase } from '../../src/database/database.ts'

// A process that writes one platform after another, and prints the name of each that is written: for a test that kills it.
const [, , dataDir = '', databaseUrl] = process.argv
const { db } = await openDatabase({ databaseUrl, dataDir })
for (;;) {
  const name = randomUUID()
  await db.insertInto('platforms').values({ name }).execute()
  console.log(name)
}
