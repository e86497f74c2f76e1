import { type Kysely, sql } from 'kysely'
import t from 'tap'
import type { FastifyInstance } from 'fastify'
import { describeDatabaseFailure } from '../../../cli/with-database.ts'
import { openDatabase } from '../../../src/database/database.ts'
import type { Tables } from '../../../src/database/tables.ts'
import { build } from '../../support/site.ts'
import { stopClock } from '../../support/clock.ts'
import { runCommand } from '../../support/run-command.ts'
import { makeEmbeddedFolder } from '../../support/test-database.ts'

const dataDir = makeEmbeddedFolder(t)
const openCommand = () => openDatabase({ databaseUrl: undefined, dataDir, patient: true })

const reason =
  'The embedded database in \\S+ has failed: Maximum call stack size exceeded \\(its disk has [\\d,]+ MB left\\)'

/** A server on its own machine would refuse this statement. PGlite does not survive it. */
async function kill(db: Kysely<Tables>): Promise<void> {
  await sql`select repeat('[', 1000000)::json`.execute(db)
}

async function routes(app: FastifyInstance) {
  app.get('/', async request => request.requireLicense().name)
}

t.test('A server whose embedded database dies', async t => {
  const lines: string[] = []
  const logger = { stream: { write: (line: string) => lines.push(line) } }
  const app = await build(t, { routes, logger, environment: { DATA_DIR: dataDir } })
  const { db } = app.database
  const ask = (host: string, url = '/') => app.inject({ url, headers: { host } })
  await ask('localhost')
  await db.insertInto('platforms').values({ name: 'acknowledged' }).execute()

  t.test('tells the command that was using it, and fails the queries that were waiting', async t => {
    const command = await openCommand()
    let waiting: Promise<unknown> | undefined
    const killed = command.db.transaction().execute(async transaction => {
      await sql`select 1`.execute(transaction)
      waiting = t.rejects(sql`select 1`.execute(db), { statusCode: 503, cause: { message: new RegExp(reason) } })
      await kill(transaction)
    })
    t.match(
      describeDatabaseFailure(await killed.catch(error => error)),
      new RegExp(`^The database was lost: ${reason}.$`),
    )
    await waiting
    await command.close()
  })

  t.test('goes on serving known hosts, and is not ready', async t => {
    t.match(await ask('localhost'), { statusCode: 200, body: 'Portico Demonstration' })
    t.match(await ask('unknown.test'), { statusCode: 503, headers: { 'retry-after': '2' } })
    t.match(await ask('localhost', '/ready'), { statusCode: 503 })
  })

  t.test('logs one line that names the folder and its disk', async t => {
    const failures = lines.map(line => JSON.parse(line)).filter(({ level }) => level >= 50)
    t.match(failures, [{ level: 60, msg: new RegExp(reason) }])
    t.equal(failures.length, 1)
  })

  t.test('refuses further commands, and closes', async t => {
    stopClock(t)
    const { code, errors } = await runCommand(['license', 'list'], { openDatabase: openCommand })
    t.equal(code, 1)
    t.match(errors, 'another process has it open. It takes no commands: stop it, or wait until it has ended.')
    await t.resolves(app.close())
  })
})

t.test('A command opens a dead database with all that was acknowledged, and says if it dies again', async t => {
  const { code, errors } = await runCommand(['license', 'list'], {
    async openDatabase() {
      const database = await openCommand()
      const { db } = database
      t.match(await db.selectFrom('platforms').selectAll().where('name', '=', 'acknowledged').execute(), [{}])
      await t.rejects(kill(db))
      return database
    },
  })
  t.equal(code, 1)
  t.match(errors, new RegExp(`^portico: The database was lost: ${reason}.\n$`))
})
