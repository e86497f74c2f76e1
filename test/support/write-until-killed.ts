import { randomUUID } from 'node:crypto'
import { openDatabase } from '../../src/database/database.ts'

// Writes one platform after another and prints the name of each one written, until a test kills it.
const [, , dataDir = '', databaseUrl] = process.argv
const { db } = await openDatabase({ databaseUrl, dataDir })
for (;;) {
  const name = randomUUID()
  await db.insertInto('platforms').values({ name }).execute()
  console.log(name)
}
