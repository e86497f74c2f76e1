import { createPool } from 'mysql2/promise'
import t from 'tap'
import { profileOf } from './driver-app.ts'
import { serveMysql } from './mysql-server.ts'

const pool = createPool({ host: '127.0.0.1', port: await serveMysql(t), user: 'root' })
t.teardown(() => pool.end())

t.test('options with named values have these as parameters, and a change has the number of rows', async t => {
  const { database } = await profileOf(t, async () => {
    await pool.query({ sql: 'update users set id = :id', values: { id: 8, token: 'x' } })
  })
  t.match(database, { rows: 3, queries: [{ parameters: [{ id: 8, token: '[masked]' }], rows: 3 }] })
})
