/** The server of a show, in its own process, which reports its usage. Forked by server-process.ts. */
import { buildApp } from '../../app.ts'
import { readConfig } from '../../src/config.ts'
import { openDatabase } from '../../src/database/database.ts'
import { hashPassword } from '../../src/sign-in/passwords.ts'
import { admin } from './all-uses.ts'
import { usageNow } from './usage.ts'

const config = readConfig(process.env)
const database = await openDatabase(config)
await database.db
  .insertInto('users')
  .values({ email: admin.email, password_hash: await hashPassword(admin.password), admin: true })
  .execute()
const app = await buildApp({ config, database, logger: { level: 'info', stream: { write() {} } } })
const origin = await app.listen({ port: 0, host: '127.0.0.1' })
process.on('message', () => {
  process.send?.(usageNow())
})
process.on('disconnect', async () => {
  await app.close()
  await database.close()
  process.exit()
})
process.send?.({ port: Number(new URL(origin).port) })
