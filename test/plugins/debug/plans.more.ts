import { sql } from 'kysely'
import pg from 'pg'
import t from 'tap'
import { planCases, planTables, wrongVerdicts } from '#profiler/test/plans'
import { plainApp } from '#profiler/test/profiled-app'
import { openTestDatabase } from '../../support/site.ts'

const database = await openTestDatabase(t)
const { db, pool } = database
for (const statement of planTables) await sql.raw(statement).execute(db)
t.teardown(() => sql`drop schema plans cascade`.execute(db))

/** The tables of the test, without their schema in the statements. */
async function connect() {
  const client = await pool.connect()
  await client.query({ text: 'set search_path to plans' })
  return {
    query: client.query.bind(client),
    release: () => client.query({ text: 'reset search_path' }).then(() => client.release()),
  }
}

for (const planned of planCases) {
  t.test(`the verdict is right, and an advised index is used, for ${planned.text}`, async t => {
    t.strictSame(await wrongVerdicts(connect, planned), [])
  })
}

const skip = database.isShared ? false : 'The embedded database has no address to connect to.'

t.test(
  'without a pool for it, queries are explained with the options of the pool that sent them',
  { skip },
  async t => {
    const { rows } = await sql<{ name: string }>`select current_database() as name`.execute(db)
    const url = new URL(String(process.env.TEST_DATABASE_URL))
    url.pathname = String(rows[0]?.name)
    const open = (name: string) => {
      const used = new pg.Pool({ connectionString: url.href, options: `-c search_path=${name}` })
      t.teardown(() => used.end())
      return used
    }
    const plans = open('plans')
    url.pathname = 'template1'
    const other = open('public')
    const app = await plainApp(t)
    app.get('/works', async () => {
      const { rows } = await plans.query('select * from works where artist = $1', [12])
      return rows
    })
    app.get('/other', async () => {
      const { rows } = await other.query('select 1')
      return rows
    })
    const { headers } = await app.inject('/works')
    const explain = () =>
      app.inject({
        method: 'POST',
        url: `/_profiler/${headers['x-debug-token']}/queries/1/explain`,
        headers: { accept: 'application/json', 'sec-fetch-site': 'same-origin' },
      })
    t.match((await explain()).json(), { verdicts: [{ claim: /^Reads all/, sql: 'create index on works (artist)' }] })

    await app.inject('/other')
    t.match((await explain()).json(), {
      error: /^The application uses several databases \(.*explainPool says which to ask/,
    })
  },
)
